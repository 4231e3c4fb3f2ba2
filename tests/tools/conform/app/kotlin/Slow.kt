// Another app behind a page that shows each of its changes later, in their order: SLOW=800, or SLOW=0-800
// at random. CORE says which app.
package slow

import flawed.FlawedApp
import issuer.AddCardModel
import issuer.BackEnd
import java.util.ArrayDeque
import kotlin.random.Random
import provisioning.AppUnderTest
import provisioning.Button
import provisioning.Screen
import provisioning.conform
import sample.CardPage
import sample.CarelessModel
import sample.SampleApp

class SlowApp(private val app: AppUnderTest, private val pause: () -> Int) : AppUnderTest by app {
    private val coming = ArrayDeque<Pair<Long, Screen>>()
    private var shown = Screen(Button.ABSENT)

    override suspend fun screen(): Screen {
        val (now, next) = System.nanoTime() to app.screen()
        val latest = coming.peekLast()?.second ?: shown
        if (next.button != latest.button || next.message != latest.message) {
            coming += maxOf(now + pause() * 1_000_000L, coming.peekLast()?.first ?: 0) to next
        }
        while (coming.isNotEmpty() && coming.first.first <= now) shown = coming.removeFirst().second
        return shown
    }

    override suspend fun openCardPage(card: String) = anew { app.openCardPage(card) }

    override suspend fun closeCardPage() = anew { app.closeCardPage() }

    override suspend fun processDeath() = anew { app.processDeath() }

    private suspend fun anew(act: suspend () -> Unit) {
        act()
        coming.clear()
        shown = Screen(Button.ABSENT)
    }
}

fun main() {
    val bounds = System.getenv("SLOW").split("-").map { it.toInt() }
    val core = System.getenv("CORE")
    conform { backEnd, session ->
        val app = if (core == "flawed") FlawedApp(backEnd, session) else SampleApp(session) { card, scope ->
            val client = BackEnd(backEnd) { this.session }
            if (core == "careless") {
                val model = CarelessModel(card, client, scope, { this }, ::report)
                CardPage(model.page, model::opened, model::addTapped)
            } else {
                val model = AddCardModel(card, "Example card", client, scope, { this }, ::println, ::report)
                CardPage(model.page, model::opened, model::addTapped)
            }
        }
        SlowApp(app) { if (bounds.size == 1) bounds[0] else Random.nextInt(bounds[0], bounds[1]) }
    }
}
