package issuer

import provisioning.* // the SDK; the document does not show its package

/** What the page shows of the add button. */
enum class AddButton { ABSENT, SHOWN, DISABLED, HIDDEN }

/** `tryAgain`: the page also has a button *Try again*, which calls `opened` of the model. */
data class Page(val button: AddButton, val message: String = "", val tryAgain: Boolean = false)

/** Decides about the button: GET, create, canProvision. Every outcome shows or hides it. */
class ButtonDecision(
    private val backEnd: BackEnd,
    private val activity: () -> Activity, // the activity of this moment, not the first one
    private val log: (String) -> Unit,
) {
    /** Set when `create` succeeded; one instance for each card (sdk-a). */
    var cardProvisioning: CardProvisioning? = null
        private set

    /** Ask anew each time the page opens or comes back, because a card may have been added or removed. */
    suspend fun forCard(cardId: String): Page {
        cardProvisioning?.let { return pageFor(it.canProvision()) } // after a rotation: the page has its client
        val sdkInput = try {
            backEnd.activationData(cardId)
        } catch (error: BackEndException) {
            log("no activation data: ${error.reason}")
            return pageWithout(error.reason)
        }
        return when (val created = CardProvisioning.create(sdkInput, activity)) {
            is CardProvisioningCreateResult.Success -> {
                cardProvisioning = created.cardProvisioning
                pageFor(created.cardProvisioning.canProvision())
            }
            is CardProvisioningCreateResult.Failed.WalletPayNotSupported -> Page(AddButton.HIDDEN)
            is CardProvisioningCreateResult.Failed.InvalidSdkInput -> {
                log("InvalidSdkInput, from GET activation-data") // where the value came from, never the value
                Page(AddButton.HIDDEN)
            }
        }
    }

    /** Without the GET there is no button to tap: a page that said nothing would leave no way to retry (ours). */
    private fun pageWithout(reason: Reason): Page = when (reason) {
        Reason.SIGN_IN -> Page(AddButton.HIDDEN, "Sign in again.")
        Reason.NO_SUCH_CARD -> Page(AddButton.HIDDEN)
        Reason.TRY_LATER -> Page(AddButton.HIDDEN, "The card cannot be added now. Try again later.", tryAgain = true)
    }

    fun pageFor(answer: CanProvisionResult): Page = when (answer) {
        is CanProvisionResult.CanBeProvisioned -> Page(AddButton.SHOWN)
        is CanProvisionResult.CannotBeProvisioned.AlreadyExistsInWallet -> Page(AddButton.HIDDEN, "In the wallet")
        is CanProvisionResult.CannotBeProvisioned.Error -> hidden("Error ${answer.throwable.javaClass.simpleName}")
        is CanProvisionResult.CannotBeProvisioned.UnknownFailure -> hidden("UnknownFailure")
        is CanProvisionResult.CannotBeProvisioned.ApiError -> hidden("ApiError ${answer.statusCode}")
    }

    private fun hidden(outcome: String): Page {
        log("canProvision: $outcome")
        return Page(AddButton.HIDDEN)
    }
}
