package issuer

import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Job
import kotlinx.coroutines.flow.MutableStateFlow
import kotlinx.coroutines.flow.StateFlow
import kotlinx.coroutines.flow.asStateFlow
import kotlinx.coroutines.launch
import provisioning.* // the SDK; the document does not show its package

/**
 * One card's page on platform A, SDK from 0.4.0.
 *
 * Keep it where a rotation does not end it (a view model), and give it that scope: it ends when the page is closed.
 * All functions are called on the main thread. `activity` returns the activity of this moment, not the first one.
 * `report` tells whoever speaks with the operator's implementation contact about a card configuration issue (A-CAN-6).
 */
class AddCardModel(
    private val cardId: String,
    private val cardName: String,
    private val backEnd: BackEnd,
    private val scope: CoroutineScope,
    activity: () -> Activity,
    private val log: (String) -> Unit,
    private val report: () -> Unit,
) {
    private val shown = MutableStateFlow(Page(AddButton.ABSENT))
    val page: StateFlow<Page> = shown.asStateFlow()

    private val decision = ButtonDecision(backEnd, activity, log)
    private var work: Job? = null

    /** Call it each time the page opens or comes back (a card may have come or gone), and at *Try again*. */
    fun opened() {
        if (work?.isActive == true) return // after a rotation: the attempt goes on
        shown.value = Page(AddButton.ABSENT)
        work = scope.launch { shown.value = decision.forCard(cardId) }
    }

    fun addTapped() {
        val sdk = decision.cardProvisioning ?: return
        if (shown.value.button != AddButton.SHOWN) return // a second tap
        shown.value = Page(AddButton.DISABLED) // A-BTN-1: before anything suspends
        work = scope.launch {
            var next = NOT_ADDED
            try {
                val provider = BackEndOpcProvider(cardId, backEnd, log)
                next = when (val end = sdk.provision(cardName, CardAddress(), provider)) {
                    is ProvisionResult.Success -> decision.pageFor(sdk.canProvision()).also {
                        if (it.button == AddButton.SHOWN) report()
                    }
                    is ProvisionResult.Failure -> if (end.name == "Canceled") Page(AddButton.SHOWN) else NOT_ADDED
                }
            } catch (error: Exception) {
                if (error is CancellationException) throw error
                log("provision threw ${error.javaClass.simpleName}") // the document names no exception
            } finally {
                shown.value = next // also when cancelled
            }
        }
    }

    private companion object {
        val NOT_ADDED = Page(AddButton.SHOWN, "Not added")
    }
}

/** The SDK calls it during `provision`. It may throw: the SDK then returns a Failure (sdk-a). */
class BackEndOpcProvider(
    private val cardId: String,
    private val backEnd: BackEnd,
    private val log: (String) -> Unit,
) : OpcProvider {
    override suspend fun fetchOpc(paymentInstrumentId: String, sdkOutput: String): String =
        try {
            if (paymentInstrumentId != cardId) throw BackEndException(Reason.NO_SUCH_CARD) // not this page's card
            backEnd.provision(paymentInstrumentId, sdkOutput)
        } catch (error: BackEndException) {
            log("no OPC data: ${error.reason}")
            throw error
        }
}
