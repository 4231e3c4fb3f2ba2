// An app of one file that makes one mistake, which the session names: `flaw:never-shown`. Without one it makes none.
// The kill matrix runs every case against the mistake that it is there for.
package flawed

import java.net.HttpURLConnection
import java.net.URL
import java.util.Base64
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.cancel
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import org.json.JSONObject
import provisioning.AppUnderTest
import provisioning.Button
import provisioning.CanProvisionResult
import provisioning.CanProvisionResult.CannotBeProvisioned
import provisioning.CardAddress
import provisioning.CardProvisioning
import provisioning.CardProvisioningCreateResult
import provisioning.CreateSdkOutputResult
import provisioning.OpcProvider
import provisioning.ProvisionResult
import provisioning.Screen
import provisioning.conform

class FlawedApp(private val backEnd: String, private val session: String) : AppUnderTest {
    private var token = session
    private val one = Dispatchers.Default.limitedParallelism(1)
    private var scope = CoroutineScope(one + SupervisorJob())
    private var button = Button.ABSENT
    private var sdk: CardProvisioning? = null
    private var card = ""
    private var firstCard = ""
    private var work: Job? = null
    private var rotated = false
    private var tapped = false
    private var reports = 0
    private var message = ""
    private var getFailed = false
    private var cached: String? = null
    private var frozen: Button? = null
    private var reused: String? = null

    private fun flaw(name: String) = session == "flaw:$name"

    override suspend fun openCardPage(card: String) = withContext(one) {
        this@FlawedApp.card = card
        message = ""
        firstCard = firstCard.ifEmpty { card }
        scope = CoroutineScope(one + SupervisorJob())
        if (!flaw("starts-as-before")) button = if (flaw("shown-at-once")) Button.SHOWN else Button.ABSENT
        if (flaw("attempt-remembered") && remembered == backEnd) button = Button.DISABLED
        else work = scope.launch { opened() }
    }

    private suspend fun opened() {
        val sdkInput = try {
            if (flaw("failure-remembered") && getFailed) throw RuntimeException("failed before")
            if (flaw("gets-twice")) call("GET", card, null)
            cached ?: call("GET", card, null)
        } catch (error: CancellationException) {
            throw error
        } catch (error: Exception) {
            if (flaw("uncaught")) throw error
            getFailed = true
            if (!flaw("get-failure-untold")) message = "Try again later"
            button = Button.HIDDEN
            return
        }
        if (flaw("cached")) cached = sdkInput
        val created = CardProvisioning.create(changed("input", sdkInput)) {
            check(!flaw("old-activity") || !rotated) { "The first activity is gone." }
            this
        }
        if (created is CardProvisioningCreateResult.Success) {
            sdk = created.cardProvisioning
            if (flaw("shown-while-asking")) button = Button.SHOWN
            val asked = created.cardProvisioning
            button = buttonFor(if (flaw("blocks-asking")) runBlocking { asked.canProvision() } else asked.canProvision())
            if (flaw("reports-each-offer") && button == Button.SHOWN) reports++
            if (flaw("provisions-on-open")) attempt()
        } else {
            if (flaw("crashes-without-client")) throw IllegalStateException("no client")
            button = if (flaw("shown-without-wallet")) Button.SHOWN else Button.HIDDEN
        }
    }

    private fun buttonFor(answer: CanProvisionResult): Button {
        val shown = when (answer) {
            is CanProvisionResult.CanBeProvisioned -> !flaw("never-shown")
            is CannotBeProvisioned.AlreadyExistsInWallet -> flaw("shown-in-wallet")
            else -> flaw("shown-on-${answer::class.simpleName}")
        }
        return if (shown) Button.SHOWN else Button.HIDDEN
    }

    override suspend fun tapAdd() = withContext(one) {
        if (button != Button.SHOWN || (flaw("once-only") && tapped)) return@withContext
        val late = flaw("disabled-late") && !tapped // by the second tap, however busy the machine is
        tapped = true
        remembered = backEnd
        if (!flaw("never-disabled") && !late) button = Button.DISABLED
        work = scope.launch { attempt() }
    }

    private suspend fun attempt() {
        val sdk = sdk ?: return
        if (flaw("provisions-twice")) scope.launch { sdk.provision("Card", CardAddress(), Provider()) }
        var result = if (flaw("not-migrated")) deprecated(sdk) else sdk.provision("Card", CardAddress(), Provider())
        if (flaw("provisions-again") && result is ProvisionResult.Failure)
            result = sdk.provision("Card", CardAddress(), Provider())
        message = when {
            result !is ProvisionResult.Failure || flaw("failure-as-success") -> "Added"
            result is ProvisionResult.Failure.Canceled && !flaw("cancel-as-failure") -> ""
            flaw("failure-untold") -> ""
            flaw("failure-name-shown") -> "Not added: ${result::class.simpleName}"
            else -> "Not added"
        }
        button = when {
            result is ProvisionResult.Success && flaw("offered-after-success") -> Button.SHOWN
            result is ProvisionResult.Success && flaw("hidden-after-success") -> {
                sdk.canProvision()
                Button.HIDDEN
            }
            result is ProvisionResult.Success -> buttonFor(sdk.canProvision()).also {
                if (flaw("reports-each-success") || it == Button.SHOWN && !flaw("not-reported")) reports++
            }
            result is ProvisionResult.Failure && flaw("gives-up") -> Button.DISABLED
            result is ProvisionResult.Failure.Canceled && flaw("gives-up-on-cancel") -> Button.HIDDEN
            result is ProvisionResult.Failure.OpcFetchError && flaw("gives-up-without-opc") ->
                Button.DISABLED
            else -> Button.SHOWN
        }
    }

    @Suppress("DEPRECATION")
    private suspend fun deprecated(sdk: CardProvisioning): ProvisionResult {
        val made = sdk.createSdkOutput() as CreateSdkOutputResult.Success
        return sdk.provision(call("POST", card, made.sdkOutput), "Card", CardAddress())
    }

    private inner class Provider : OpcProvider {
        override suspend fun fetchOpc(paymentInstrumentId: String, sdkOutput: String): String {
            val id = if (flaw("first-card")) firstCard else paymentInstrumentId
            val output = changed("output", sdkOutput)
            if (flaw("output-logged")) println("posting $sdkOutput")
            val opc = when {
                flaw("opc-swallowed") -> try {
                    call("POST", id, output)
                    ""
                } catch (error: Exception) {
                    ""
                }
                flaw("not-cancelled") -> withContext(NonCancellable) { call("POST", id, output) }
                flaw("retried") -> retried { call("POST", id, output) }
                flaw("output-logged-on-failure") -> try {
                    call("POST", id, output)
                } catch (error: Exception) {
                    println("no answer to $sdkOutput")
                    throw error
                }
                else -> call("POST", id, output)
            }
            if (flaw("enabled-early")) button = Button.SHOWN
            if (flaw("opc-reused")) return reused ?: opc.also { reused = it }
            return changed("opc", opc)
        }
    }

    private fun changed(what: String, text: String) = when {
        flaw("$what-wrapped") -> "$text\n"
        flaw("$what-trimmed") -> text.trimEnd('=')
        flaw("$what-decoded-as-form") -> text.replace('+', ' ')
        flaw("$what-url-safe") -> text.replace('/', '_')
        else -> text
    }

    private suspend fun retried(call: suspend () -> String): String = try {
        call()
    } catch (error: CancellationException) {
        throw error
    } catch (error: Exception) {
        call()
    }

    private suspend fun call(method: String, card: String, output: String?): String =
        if (flaw("blocks")) runBlocking { request(method, card, output) } else request(method, card, output)

    private suspend fun request(method: String, card: String, output: String?): String = withContext(Dispatchers.IO) {
        val operation = if (method == "GET") "activation-data" else "provision"
        val connection = URL("$backEnd/cards/$card/$operation").openConnection() as HttpURLConnection
        connection.requestMethod = method
        if (!flaw("waits-for-ever")) connection.readTimeout = 4000
        if (!flaw("no-session")) connection.setRequestProperty("authorization", "Bearer $token")
        if (flaw("key-in-app")) connection.setRequestProperty("x-api-key", "SIMULATED-API-KEY")
        if (flaw("session-logged")) println("session $session")
        if (flaw("calls-api")) runCatching { URL("http://localhost:9/bcl/v2").openConnection().connect() }
        if (output != null) {
            connection.doOutput = true
            val json = JSONObject().put("sdkOutput", output).toString()
            val body = (if (flaw("output-unescaped")) "{\"sdkOutput\":\"$output\"}" else json).toByteArray()
            connection.setFixedLengthStreamingMode(body.size)
            connection.outputStream.use { it.write(body) }
        }
        val refused = connection.responseCode != 200
        if (refused && !flaw("any-status")) throw RuntimeException("status ${connection.responseCode}")
        val text = (if (refused) connection.errorStream else connection.inputStream).use { it.readBytes().decodeToString() }
        val value = value(text)
        if (flaw("input-logged")) println("got $value")
        if (flaw("decoded-logged")) println("got ${Base64.getDecoder().decode(value).decodeToString()}")
        value
    }

    /** The sdkInput of an answer; the flaws take something else for it. */
    private fun value(text: String): String {
        if (flaw("any-body")) return text.ifEmpty { "nothing" }
        val value = try {
            JSONObject(text).opt("sdkInput")
        } catch (error: RuntimeException) {
            if (flaw("any-status")) return text
            throw error
        }
        if (flaw("any-status") || flaw("null-as-text")) return value.toString()
        if (flaw("empty-accepted")) return value as? String ?: ""
        return (value as? String).orEmpty().ifEmpty { throw RuntimeException("no sdkInput") }
    }

    override suspend fun screen() = withContext(one) { Screen(frozen ?: button, message) }

    override suspend fun closeCardPage() = withContext(one) {
        if (!flaw("not-cancelled")) scope.cancel()
        sdk = null
        if (!flaw("starts-as-before")) button = Button.ABSENT
    }

    override suspend fun rotate(): Unit = withContext(one) {
        rotated = true
        if (flaw("rotation-forgets")) frozen = button
        if (flaw("rotation-empties")) button = Button.ABSENT
        if (flaw("rotation-asks-again")) scope.launch { opened() }
        if (flaw("rotation-enables") && button == Button.DISABLED) button = Button.SHOWN
    }

    override suspend fun processDeath() = closeCardPage()

    override suspend fun signOut() = closeCardPage().also { if (!flaw("signs-out-nowhere")) token = "" }

    override suspend fun reports() = reports

    private companion object {
        /** What a flawed app keeps on the disk: it outlives the process. */
        var remembered = ""
    }
}

fun main() = conform { backEnd, session -> FlawedApp(backEnd, session) }
