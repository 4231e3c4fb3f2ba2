// What the interface document shows of platform A's SDK from 0.4.0 on, so that the other files compile without it.
// Do not copy this file: the SDK brings these names, in packages of its own. How they are nested is assumed.

/** Stands for the platform's activity. */
open class Activity

class CardAddress

interface OpcProvider {
    suspend fun fetchOpc(paymentInstrumentId: String, sdkOutput: String): String
}

sealed interface CardProvisioningCreateResult {
    class Success(val cardProvisioning: CardProvisioning) : CardProvisioningCreateResult

    sealed interface Failed : CardProvisioningCreateResult {
        object WalletPayNotSupported : Failed
        object InvalidSdkInput : Failed
    }
}

sealed interface CanProvisionResult {
    object CanBeProvisioned : CanProvisionResult

    sealed interface CannotBeProvisioned : CanProvisionResult {
        object AlreadyExistsInWallet : CannotBeProvisioned
        class Error(val throwable: Throwable) : CannotBeProvisioned
        object UnknownFailure : CannotBeProvisioned
        class ApiError(val statusCode: Int) : CannotBeProvisioned
    }
}

sealed interface ProvisionResult {
    object Success : ProvisionResult
    object Failure : ProvisionResult
}

interface CardProvisioning {
    suspend fun canProvision(): CanProvisionResult

    suspend fun provision(
        cardDisplayName: String,
        cardAddress: CardAddress,
        opcProvider: OpcProvider,
    ): ProvisionResult

    companion object {
        fun create(sdkInput: String, activityProvider: () -> Activity): CardProvisioningCreateResult =
            error("The SDK brings it.")
    }
}
