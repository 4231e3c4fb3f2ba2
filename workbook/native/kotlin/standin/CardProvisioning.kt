// A stand-in for platform A's SDK, for tests on a computer or an emulator. Every call goes to `workbook phone`, which
// answers as the document says; nothing is decided here.
//
// The names of the operations and outcomes are the document's. The package is ours, because the document shows none.
// What else is not from the document is marked "ours" or with its source. In the app, map the names once:
//
//     import provisioning.CardProvisioning as CardProvisioning
package provisioning

import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext

/** Stands for the platform's activity: a computer has none, so anything will do here. */
typealias Activity = Any

/** What `create` returns (A-CREATE-1 to A-CREATE-3). */
sealed interface CardProvisioningCreateResult {
    class Success(val cardProvisioning: CardProvisioning) : CardProvisioningCreateResult

    sealed interface Failed : CardProvisioningCreateResult {
        object WalletPayNotSupported : Failed
        object InvalidSdkInput : Failed
    }
}

/** What `canProvision` returns (A-CAN-1 to A-CAN-5). */
sealed interface CanProvisionResult {
    object CanBeProvisioned : CanProvisionResult

    sealed interface CannotBeProvisioned : CanProvisionResult {
        object AlreadyExistsInWallet : CannotBeProvisioned
        class Error(val throwable: Throwable) : CannotBeProvisioned
        object UnknownFailure : CannotBeProvisioned
        // The document names it for "the later variant" (A-CAN-5); the SDK has it since 0.2.0 (sdk-a), so it is in both.
        class ApiError(val statusCode: Int) : CannotBeProvisioned
    }
}

/** What `createSdkOutput` returns. The document names no outcomes; these two are ours (A-OUT-1). */
sealed interface CreateSdkOutputResult {
    class Success(val sdkOutput: String) : CreateSdkOutputResult
    class Failure(val reason: String) : CreateSdkOutputResult
}

/**
 * What `provision` returns. The document shows no fields; `name` is one of the public case names (sdk-a), which
 * `notebooks/reference/phone.md` lists. "Canceled": the cardholder ended the wallet's flow, so tell no failure.
 * "OpcFetchError": fetchOpc threw. `message` is ours, for a log: it is in no cardholder's words.
 */
sealed interface ProvisionResult {
    object Success : ProvisionResult
    class Failure(val name: String, val message: String) : ProvisionResult
}

/** The cardholder's address. The document shows no fields; these seven are public (sdk-a). Empty is allowed (A-PROV-5). */
class CardAddress(
    val addressLine1: String = "",
    val addressLine2: String = "",
    val locality: String = "",
    val administrativeArea: String = "",
    val countryCode: String = "",
    val postalCode: String = "",
    val phoneNumber: String = "",
)

// from 0.4.0 {
/** What the app implements: asks its back end, which makes the POST (A-OPC-1). */
interface OpcProvider {
    suspend fun fetchOpc(paymentInstrumentId: String, sdkOutput: String): String
}
// }

/** One card's provisioning client; made by [create]. */
class CardProvisioning private constructor(
    private val wire: Wire,
    private val number: Int,
    private val activityProvider: () -> Activity?,
) {
    /** Whether the card can be added: show the button on CanBeProvisioned (A-CAN-1, A-CAN-2). */
    suspend fun canProvision(): CanProvisionResult {
        val reply = wire.call("canProvision", "provisioning" to number)
        return when (val outcome = reply.text("outcome")) {
            "CanBeProvisioned" -> CanProvisionResult.CanBeProvisioned
            "AlreadyExistsInWallet" -> CanProvisionResult.CannotBeProvisioned.AlreadyExistsInWallet
            "Error" -> CanProvisionResult.CannotBeProvisioned.Error(RuntimeException(reply.text("throwable")))
            "UnknownFailure" -> CanProvisionResult.CannotBeProvisioned.UnknownFailure
            "ApiError" -> CanProvisionResult.CannotBeProvisioned.ApiError(reply.number("statusCode"))
            else -> throw WorkbookException("canProvision came back with $outcome, which this stand-in does not know.")
        }
    }

    /** Make an sdkOutput for the back end's POST (A-OUT-1). */
    @Deprecated("From 0.4.0, call provision with an OpcProvider (A-MIG-1).") // from 0.4.0
    suspend fun createSdkOutput(): CreateSdkOutputResult {
        val reply = wire.call("createSdkOutput", "provisioning" to number)
        if (reply.text("outcome") == "Success") return CreateSdkOutputResult.Success(reply.text("sdkOutput"))
        return CreateSdkOutputResult.Failure(reply.text("message"))
    }

    /** Add the card with the sdkInput of the POST (A-PROV-4). */
    @Deprecated("From 0.4.0, call provision with an OpcProvider (A-MIG-1).") // from 0.4.0
    suspend fun provision(sdkInput: String, cardDisplayName: String, cardAddress: CardAddress): ProvisionResult =
        provisioned("provision", null, "sdkInput" to sdkInput, cardDisplayName, cardAddress)

    // from 0.4.0 {
    /** Add the card; the SDK asks [opcProvider] for the OPC data (A-PROV-2). Returns when the flow is over. */
    suspend fun provision(
        cardDisplayName: String,
        cardAddress: CardAddress,
        opcProvider: OpcProvider,
    ): ProvisionResult = provisioned("provisionWithProvider", opcProvider::fetchOpc, null, cardDisplayName, cardAddress)
    // }

    private suspend fun provisioned(
        call: String,
        fetchOpc: (suspend (String, String) -> String)?,
        opc: Pair<String, String>?,
        cardDisplayName: String,
        cardAddress: CardAddress,
    ): ProvisionResult {
        val said = listOfNotNull("provisioning" to number, opc, "cardDisplayName" to cardDisplayName)
        var reply = wire.call(call, *said.toTypedArray(), *cardAddress.fields())
        while (reply.has("ask")) {
            val turn = "turn" to reply.number("turn")
            reply = when (reply.text("ask")) {
                "activity" -> wire.call("activity", turn, "there" to (activityProvider() != null))
                else -> asked(reply, turn, fetchOpc)
            }
        }
        if (reply.text("outcome") == "Success") return ProvisionResult.Success
        return ProvisionResult.Failure(reply.text("name"), reply.text("message"))
    }

    /** The app's fetchOpc runs here; the SDK catches what it throws (sdk-a), except that its scope was cancelled. */
    private suspend fun asked(
        reply: Reply,
        turn: Pair<String, Any>,
        fetchOpc: (suspend (String, String) -> String)?,
    ): Reply {
        val opc = try {
            checkNotNull(fetchOpc) { "There is no OpcProvider." }
                .invoke(reply.text("paymentInstrumentId"), reply.text("sdkOutput"))
        } catch (cancelled: CancellationException) {
            withContext(NonCancellable) { wire.call("cancelled", turn) }
            throw cancelled
        } catch (error: Throwable) {
            return wire.call("noOpc", turn, "threw" to error.javaClass.simpleName)
        }
        return wire.call("opc", turn, "sdkInput" to opc)
    }

    companion object {
        /** Make a client from the GET's sdkInput (A-CREATE-1). It does not suspend, as the document has it. */
        fun create(sdkInput: String, activityProvider: () -> Activity?): CardProvisioningCreateResult {
            val wire = Wire.current()
            val reply = runBlocking { wire.call("create", "sdkInput" to sdkInput) }
            return when (val outcome = reply.text("outcome")) {
                "Success" -> CardProvisioningCreateResult.Success(
                    CardProvisioning(wire, reply.number("provisioning"), activityProvider),
                )
                "WalletPayNotSupported" -> CardProvisioningCreateResult.Failed.WalletPayNotSupported
                "InvalidSdkInput" -> CardProvisioningCreateResult.Failed.InvalidSdkInput
                else -> throw WorkbookException("create came back with $outcome, which this stand-in does not know.")
            }
        }
    }
}

private fun CardAddress.fields(): Array<Pair<String, String>> = arrayOf(
    "addressLine1" to addressLine1,
    "addressLine2" to addressLine2,
    "locality" to locality,
    "administrativeArea" to administrativeArea,
    "countryCode" to countryCode,
    "postalCode" to postalCode,
    "phoneNumber" to phoneNumber,
)
