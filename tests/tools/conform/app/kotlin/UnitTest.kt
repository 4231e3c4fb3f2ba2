// A unit test in a plain JVM project, without a test library: it fails by an exception.
package unit

import issuer.AddButton
import issuer.AddCardModel
import issuer.BackEnd
import issuer.Message
import java.util.concurrent.Executors
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeout
import provisioning.Workbook

private val MAIN = Executors.newSingleThreadExecutor { Thread(it).apply { isDaemon = true } }.asCoroutineDispatcher()

private suspend fun opened(): AddCardModel = withContext(MAIN) {
    val backEnd = BackEnd(Workbook.backEndUrl) { "" }
    AddCardModel("PISIMULATED00000000000001", "Card", backEnd, CoroutineScope(MAIN), { "activity" }, ::println, { })
        .also { it.opened() }
}

private suspend fun AddCardModel.shows(button: AddButton) = withTimeout(20_000) { page.first { it.button == button } }

fun main() = runBlocking {
    Workbook.phone("card already in the wallet")
    check(opened().shows(AddButton.HIDDEN).message == Message.IN_THE_WALLET)
    for ((phone, message) in mapOf("cardholder cancels" to Message.NONE, "wallet times out" to Message.NOT_ADDED)) {
        Workbook.phone(phone)
        val model = opened()
        model.shows(AddButton.SHOWN)
        withContext(MAIN) { model.addTapped() }
        check(model.shows(AddButton.SHOWN).message == message)
    }
    Workbook.backEnd("GET", "503")
    opened().shows(AddButton.HIDDEN)
    Workbook.backEnd("GET", "")
    opened().shows(AddButton.SHOWN)
    println("all of it holds")
}
