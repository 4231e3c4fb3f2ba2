// Code as it is written for the SDK: it uses every public shape (sdk-a) that an app may use.
package shapes

import provisioning.*

fun describe(end: ProvisionResult): String = when (end) {
    is ProvisionResult.Success -> end.tokenId ?: "no token"
    is ProvisionResult.Failure.Canceled -> "canceled"
    is ProvisionResult.Failure.OpcFetchError -> end.errorMessage ?: "no OPC"
    is ProvisionResult.Failure.UnknownStatusCode -> "status ${end.statusCode}"
    is ProvisionResult.Failure.InvalidSdkInput -> end.errorMessage ?: "invalid"
    is ProvisionResult.Failure.Other -> end.error?.message ?: "other"
    is ProvisionResult.Failure -> end.javaClass.simpleName
}

suspend fun add(sdk: CardProvisioning): ProvisionResult {
    val provider = OpcProvider { paymentInstrumentId, sdkOutput -> "$paymentInstrumentId $sdkOutput" }
    return sdk.provision(
        cardDisplayName = "Card",
        cardAddress = CardAddress(addressLine1 = null, countryCode = "DE"),
        opcProvider = provider,
    )
}

fun make(sdkInput: String, activity: Activity): CardProvisioningCreateResult =
    CardProvisioning.create(sdkInput = sdkInput, activityProvider = { activity })

@Suppress("DEPRECATION")
suspend fun output(sdk: CardProvisioning): String = when (val made = sdk.createSdkOutput()) {
    is CreateSdkOutputResult.Success -> made.sdkOutput
    is CreateSdkOutputResult.Failure.ApiError -> "status ${made.statusCode}"
    is CreateSdkOutputResult.Failure.Canceled -> "canceled"
    is CreateSdkOutputResult.Failure.Error -> made.throwable.toString()
    is CreateSdkOutputResult.Failure.ProvisioningInProgress -> "in progress"
    is CreateSdkOutputResult.Failure.UnknownFailure -> "unknown"
}
