package issuer

import java.io.IOException
import java.net.HttpURLConnection
import java.net.URL
import java.net.URLEncoder
import kotlin.concurrent.thread
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.suspendCancellableCoroutine
import kotlinx.coroutines.withTimeoutOrNull
import org.json.JSONException
import org.json.JSONObject // part of platform A's system

/** Why there is no sdkInput. It carries no body, no address and no value, so it may be logged. */
class BackEndException(val reason: Reason) : Exception(reason.name)

enum class Reason { SIGN_IN, NO_SUCH_CARD, TRY_LATER }

/**
 * Your back end, as your app sees it: two calls with the cardholder's session, and no API key.
 * The opaque text passes unchanged (API-7).
 */
class BackEnd(private val baseUrl: String, private val sessionToken: () -> String) {

    suspend fun activationData(cardId: String): String = call("GET", cardId, "activation-data", null)

    suspend fun provision(cardId: String, sdkOutput: String): String =
        call("POST", cardId, "provision", JSONObject().put("sdkOutput", sdkOutput).toString())

    /** One call, made once, with one time limit for all of it. */
    private suspend fun call(method: String, cardId: String, operation: String, body: String?): String {
        val id = URLEncoder.encode(cardId, "UTF-8").replace("+", "%20")
        val connection = URL("$baseUrl/cards/$id/$operation").openConnection() as HttpURLConnection
        val answered = withTimeoutOrNull(LIMIT) {
            suspendCancellableCoroutine<String> { waiting ->
                waiting.invokeOnCancellation { connection.disconnect() } // time is up, or the page is gone
                thread { waiting.resumeWith(runCatching { connection.answer(method, body) }) }
            }
        }
        return answered ?: throw BackEndException(Reason.TRY_LATER)
    }

    private fun HttpURLConnection.answer(method: String, body: String?): String =
        try {
            requestMethod = method
            instanceFollowRedirects = false
            useCaches = false
            connectTimeout = LIMIT.inWholeMilliseconds.toInt()
            readTimeout = LIMIT.inWholeMilliseconds.toInt() // of each read: the limit of the call is above
            setRequestProperty("authorization", "Bearer ${sessionToken()}")
            setRequestProperty("content-type", "application/json")
            if (body != null) {
                val bytes = body.toByteArray()
                doOutput = true
                setFixedLengthStreamingMode(bytes.size) // a streamed POST is never repeated by the client itself
                outputStream.use { it.write(bytes) }
            }
            when (responseCode) {
                200 -> sdkInputOf(inputStream.use { it.readBytes().decodeToString() })
                401 -> throw BackEndException(Reason.SIGN_IN)
                403, 404 -> throw BackEndException(Reason.NO_SUCH_CARD)
                else -> throw BackEndException(Reason.TRY_LATER)
            }
        } catch (error: IOException) { // its text may hold the address: only the reason goes on
            throw BackEndException(Reason.TRY_LATER)
        } finally {
            disconnect()
        }

    /** A 200 without a filled sdkInput is a failure, too (REL-6). */
    private fun sdkInputOf(json: String): String =
        try {
            (JSONObject(json).opt("sdkInput") as? String).orEmpty()
        } catch (error: JSONException) {
            ""
        }.ifEmpty { throw BackEndException(Reason.TRY_LATER) }

    private companion object {
        val LIMIT = 9.seconds // longer than the back end's own 8 s
    }
}
