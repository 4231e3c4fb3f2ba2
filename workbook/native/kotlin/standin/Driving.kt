// For `workbook conform app`: lets the workbook play the cardholder in front of your app.
package provisioning

import java.net.ProxySelector
import java.net.SocketAddress
import java.net.URI
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.CopyOnWriteArrayList
import kotlinx.coroutines.runBlocking

/** What the card's page of your app shows. */
class Screen(val button: Button, val message: String = "")

enum class Button { ABSENT, SHOWN, DISABLED, HIDDEN }

/**
 * Your app, as a test reaches it: about 30 lines of your own. Each function returns when the app has taken the action in;
 * it does not wait for what comes of it.
 */
interface AppUnderTest {
    /** The cardholder opens the page of this card. */
    suspend fun openCardPage(card: String)

    /** The cardholder taps Add. A tap on a button that is disabled or not there does nothing, as on a phone. */
    suspend fun tapAdd()

    /** What the page shows now. */
    suspend fun screen(): Screen

    /** The cardholder leaves the page; what the page had begun is cancelled, if your app does that. */
    suspend fun closeCardPage()

    /** The screen is rotated: the page is made anew, and what outlives a page lives on. */
    suspend fun rotate()

    /** The system ended the process: nothing that was in memory is left. The next call finds a new app. */
    suspend fun processDeath()

    /** How many card configuration issues your app has reported so far (A-CAN-6); leave it out if it cannot be told. */
    suspend fun reports(): Int = TODO()
}

/**
 * Run the cases of `workbook conform app` against an app, and return when the last is over. Call it from any test.
 *
 * @param app makes your app, with the address of its back end and the session to present; called once for each case.
 */
fun conform(app: (backEnd: String, session: String) -> AppUnderTest) = Uncaught().use { uncaught ->
    runBlocking {
        val wire = Wire.current()
        val hosts = Hosts()
        var under: AppUnderTest? = null
        var done = wire.call("next", "turn" to 0)
        while (done.text("do") != "end") {
            val turn = "turn" to done.number("turn")
            var screen = Screen(Button.ABSENT)
            var reports = 0
            val threw = try {
                when (done.text("do")) {
                    "begin" -> under = app(done.text("backEnd"), done.text("session"))
                    "openCardPage" -> under?.openCardPage(done.text("card"))
                    "tapAdd" -> under?.tapAdd()
                    "screen" -> screen = under?.screen() ?: screen
                    "closeCardPage" -> under?.closeCardPage()
                    "rotate" -> under?.rotate()
                    "processDeath" -> under?.processDeath()
                    "reports" -> reports = under?.reports() ?: 0
                }
                ""
            } catch (error: NotImplementedError) {
                "NotImplementedError"
            } catch (error: Throwable) {
                inWords(error)
            }
            done = wire.call(
                "next", turn, "threw" to threw, "uncaught" to uncaught.taken(), "hosts" to hosts.taken(),
                "button" to screen.button.name.lowercase(), "message" to screen.message, "reports" to reports,
            )
        }
    }
}

private fun inWords(error: Throwable) = "${error.javaClass.name} at ${error.stackTrace.firstOrNull()}"

/** Notes what nothing in a thread or a `launch` catches: on a phone it ends the app. It is printed as before. */
private class Uncaught : Thread.UncaughtExceptionHandler, AutoCloseable {
    private val usual: Thread.UncaughtExceptionHandler? = Thread.getDefaultUncaughtExceptionHandler()
    private val noted = ConcurrentLinkedQueue<String>()

    init {
        Thread.setDefaultUncaughtExceptionHandler(this)
    }

    fun taken(): String = generateSequence { noted.poll() }.joinToString("; ").take(MOST)

    override fun close() = Thread.setDefaultUncaughtExceptionHandler(usual)

    override fun uncaughtException(thread: Thread, error: Throwable) {
        noted += inWords(error)
        usual?.uncaughtException(thread, error) ?: error.printStackTrace()
    }

    private companion object {
        const val MOST = 1000 // characters, as the protocol allows
    }
}

/** Notes every host that this process asks for, so that a direct call of the HTTP API is seen. */
private class Hosts : ProxySelector() {
    private val usual: ProxySelector? = getDefault()
    private val asked = CopyOnWriteArrayList<String>()

    init {
        setDefault(this)
    }

    fun taken(): String = asked.distinct().joinToString(" ").also { asked.clear() }

    override fun select(uri: URI): List<java.net.Proxy> {
        asked += "${uri.host}:${uri.port}"
        return usual?.select(uri) ?: listOf(java.net.Proxy.NO_PROXY)
    }

    override fun connectFailed(uri: URI, address: SocketAddress, error: java.io.IOException) {
        usual?.connectFailed(uri, address, error)
    }
}
