// The SDK's public shapes (sdk-a) from 0.4.0 on, written down from its public description and not from the stand-in.
// The reference app core is compiled against these, too, with other imports and nothing else changed.
@file:Suppress("UNUSED_PARAMETER", "unused")

package vendor

class Activity

class CardProvisioning private constructor() {
    suspend fun canProvision(): CanProvisionResult = TODO()

    suspend fun provision(cardDisplayName: String, cardAddress: CardAddress, opcProvider: OpcProvider): ProvisionResult =
        TODO()

    companion object {
        fun create(sdkInput: String, activityProvider: () -> Activity): CardProvisioningCreateResult = TODO()
    }
}

sealed class CardProvisioningCreateResult {
    class Success(val cardProvisioning: CardProvisioning) : CardProvisioningCreateResult()

    sealed class Failed : CardProvisioningCreateResult() {
        object WalletPayNotSupported : Failed()
        object InvalidSdkInput : Failed()
    }
}

sealed class CanProvisionResult {
    object CanBeProvisioned : CanProvisionResult()

    sealed class CannotBeProvisioned : CanProvisionResult() {
        object AlreadyExistsInWallet : CannotBeProvisioned()
        class ApiError(val statusCode: Int) : CannotBeProvisioned()
        class Error(val throwable: Throwable) : CannotBeProvisioned()
        object UnknownFailure : CannotBeProvisioned()
    }
}

fun interface OpcProvider {
    suspend fun fetchOpc(paymentInstrumentId: String, sdkOutput: String): String
}

class CardAddress(
    val addressLine1: String? = null,
    val addressLine2: String? = null,
    val locality: String? = null,
    val administrativeArea: String? = null,
    val countryCode: String? = null,
    val postalCode: String? = null,
    val phoneNumber: String? = null,
)

sealed class ProvisionResult {
    class Success(val tokenId: String?) : ProvisionResult()

    sealed class Failure : ProvisionResult() {
        object Canceled : Failure()
        class OpcFetchError(val errorMessage: String?) : Failure()
        object ProvisioningInProgress : Failure()
        object ApiNotConnected : Failure()
        object ConnectionSuspendedDuringCall : Failure()
        object DeveloperError : Failure()
        object Error : Failure()
        object InternalError : Failure()
        object Interrupted : Failure()
        object InvalidAccount : Failure()
        object NetworkError : Failure()
        object ReconnectionTimedOut : Failure()
        object ReconnectionTimedOutDuringUpdate : Failure()
        object RemoteException : Failure()
        object ResolutionRequired : Failure()
        object SignInRequired : Failure()
        object Timeout : Failure()
        object NoActiveWallet : Failure()
        object TokenNotFound : Failure()
        object InvalidTokenState : Failure()
        object AttestationError : Failure()
        object Unavailable : Failure()
        class UnknownStatusCode(val statusCode: Int) : Failure()
        class InvalidSdkInput(val errorMessage: String?) : Failure()
        object AlreadyProvisioned : Failure()
        class Other(val error: Throwable?) : Failure()
    }
}
