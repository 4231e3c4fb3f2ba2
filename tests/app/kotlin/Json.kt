// As much of platform A's own org.json as the app core uses; a plain JVM has none.
package org.json

class JSONException(message: String) : RuntimeException(message)

class JSONObject() {
    private val fields = mutableMapOf<String, Any?>()

    constructor(text: String) : this() {
        fields += provisioning.read(text) ?: throw JSONException("no JSON object")
    }

    fun put(name: String, value: String): JSONObject = apply { fields[name] = value }

    fun opt(name: String): Any? = fields[name]

    override fun toString(): String =
        fields.entries.joinToString(",", "{", "}") { (name, value) -> "\"$name\":\"$value\"" }
}
