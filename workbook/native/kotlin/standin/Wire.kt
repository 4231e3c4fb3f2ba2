// How the stand-in talks to `workbook phone`: one HTTP exchange on loopback for each call, flat JSON objects both ways.
// `notebooks/reference/phone.md` describes every message.
package provisioning

import java.net.ConnectException
import java.net.HttpURLConnection
import java.net.Proxy
import java.net.URL
import java.util.concurrent.Executors
import kotlin.coroutines.resume
import kotlin.coroutines.resumeWithException
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.suspendCancellableCoroutine

/** The workbook refused a call, or cannot be reached. This is no outcome of the SDK: the message says what to do. */
class WorkbookException(message: String) : RuntimeException(message)

/** Connects this process to `workbook phone`. */
object Workbook {
    /**
     * Say where the workbook listens; without this call the environment does (WORKBOOK_PHONE_URL, WORKBOOK_PHONE_KEY).
     * On an emulator, `adb reverse tcp:PORT tcp:PORT` makes the same address work.
     *
     * @param url as `workbook phone` prints it.
     * @param key of this run, as it prints it.
     * @param client names this app, where several use one workbook; each has a device of its own.
     */
    fun connect(url: String, key: String, client: String = "app") {
        Wire.use(Wire(url, key, client))
    }

    /** The address of the back end that the workbook plays for this app; give it to your own back-end client. */
    val backEndUrl: String get() = Wire.current().backEnd

    /** From here on the phone is this one: `workbook phone --phone list` lists them. */
    fun phone(name: String) {
        val wire = Wire.current()
        runBlocking { wire.call("usePhone", "name" to name) }
    }

    /** From here on the back end fails GET or POST like this, such as "500"; an empty text ends that. */
    fun backEnd(operation: String, how: String) {
        val wire = Wire.current()
        runBlocking { wire.call("useBackEnd", "operation" to operation, "fails" to how) }
    }
}

internal const val PROTOCOL = 1

/** An answer of the workbook: an outcome, or something that it asks for. */
internal class Reply(private val fields: Map<String, Any?>) {
    fun has(name: String) = name in fields

    fun text(name: String) = fields[name] as? String ?: ""

    fun number(name: String) = (fields[name] as? Number)?.toInt() ?: 0
}

internal class Wire(private val url: String, private val key: String, private val client: String) {
    var backEnd = ""

    /** One exchange. When the caller's scope is cancelled, the connection is cut, and the workbook sees that. */
    suspend fun call(call: String, vararg fields: Pair<String, Any?>): Reply =
        suspendCancellableCoroutine { waiting ->
            val connection = URL("$url/phone/v$PROTOCOL/$call").openConnection(Proxy.NO_PROXY) as HttpURLConnection
            waiting.invokeOnCancellation { connection.disconnect() }
            THREADS.execute {
                try {
                    waiting.resume(exchanged(connection, call, mapOf("client" to client, *fields)))
                } catch (error: Throwable) {
                    if (waiting.isActive) waiting.resumeWithException(error)
                }
            }
        }

    private fun exchanged(connection: HttpURLConnection, call: String, fields: Map<String, Any?>): Reply {
        val body = written(fields).toByteArray()
        connection.requestMethod = "POST"
        connection.doOutput = true
        connection.setRequestProperty("content-type", "application/json")
        connection.setRequestProperty("x-workbook-key", key)
        connection.setFixedLengthStreamingMode(body.size)
        try {
            connection.outputStream.use { it.write(body) }
        } catch (_: ConnectException) {
            throw WorkbookException("Nothing listens at $url. Start `workbook phone`, and take the address that it prints.")
        }
        val refused = connection.responseCode != HttpURLConnection.HTTP_OK
        val stream = if (refused) connection.errorStream else connection.inputStream
        val text = stream?.use { it.readBytes().decodeToString() } ?: ""
        val answer = read(text) ?: throw WorkbookException("$url is not a workbook: it answered $call with no JSON object.")
        if (refused) throw WorkbookException("$call was refused: ${answer["error"]}")
        return Reply(answer)
    }

    companion object {
        private val THREADS = Executors.newCachedThreadPool { work -> Thread(work, "workbook").apply { isDaemon = true } }
        private var chosen: Wire? = null

        fun use(wire: Wire) {
            val said = runBlocking { wire.call("hello", "platform" to "A", "variant" to VARIANT, "protocol" to PROTOCOL) }
            wire.backEnd = said.text("backEnd")
            chosen = wire
        }

        fun current(): Wire {
            if (chosen == null) use(Wire(set("WORKBOOK_PHONE_URL"), set("WORKBOOK_PHONE_KEY"), "app"))
            return checkNotNull(chosen)
        }

        private fun set(variable: String): String = System.getenv(variable)
            ?: throw WorkbookException("$variable is not set. Start `workbook phone`, or call Workbook.connect(url, key).")
    }
}

internal const val VARIANT = "from-0.4.0"

// JSON, as much as flat objects need.

private fun written(fields: Map<String, Any?>): String =
    fields.entries.joinToString(",", "{", "}") { (name, value) -> "${quoted(name)}:${value(value)}" }

private fun value(value: Any?): String = when (value) {
    null, is Boolean, is Number -> value.toString()
    else -> quoted(value.toString())
}

private fun quoted(text: String): String = buildString {
    append('"')
    for (letter in text) {
        when {
            letter == '"' || letter == '\\' -> append('\\').append(letter)
            letter < ' ' -> append("\\u").append(letter.code.toString(16).padStart(4, '0'))
            else -> append(letter)
        }
    }
    append('"')
}

private val TOKEN = Regex("\"((?:[^\"\\\\]|\\\\.)*)\"|true|false|null|-?[0-9][-+.0-9eE]*|[{}:,]")
private val ESCAPE = Regex("\\\\(u[0-9a-fA-F]{4}|.)")

/** A flat JSON object, or null where the text is none. */
internal fun read(text: String): Map<String, Any?>? {
    val tokens = TOKEN.findAll(text).map { it.value }.toList()
    if (tokens.firstOrNull() != "{" || tokens.last() != "}") return null
    val parts = tokens.subList(1, tokens.size - 1).filter { it != ":" && it != "," }
    if (parts.size % 2 != 0) return null
    return parts.chunked(2).associate { (name, value) -> plain(name) to if (value[0] == '"') plain(value) else literal(value) }
}

private fun literal(text: String): Any? = when (text) {
    "null" -> null
    "true" -> true
    "false" -> false
    else -> text.toDoubleOrNull()
}

private fun plain(quoted: String): String = ESCAPE.replace(quoted.substring(1, quoted.length - 1)) { found ->
    when (val escape = found.groupValues[1]) {
        "n" -> "\n"
        "t" -> "\t"
        "r" -> "\r"
        "b" -> "\b"
        "f" -> "\u000c"
        else -> if (escape.length == 5) escape.drop(1).toInt(16).toChar().toString() else escape
    }
}
