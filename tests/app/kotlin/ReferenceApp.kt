// The adapter of the reference app core: what an integrator writes for an app of their own.
package issuer

import java.util.concurrent.Executors
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.cancel
import kotlinx.coroutines.withContext
import provisioning.AppUnderTest
import provisioning.Button
import provisioning.Screen
import provisioning.conform

class ReferenceApp(private val backEnd: String, private val session: String) : AppUnderTest {
    private var scope = CoroutineScope(MAIN + SupervisorJob())
    private var model: AddCardModel? = null
    private var reports = 0

    override suspend fun openCardPage(card: String) = withContext(MAIN) {
        scope = CoroutineScope(MAIN + SupervisorJob())
        model = AddCardModel(card, "Example card", BackEnd(backEnd) { session }, scope, { this }, ::println, { reports++ })
            .also { it.opened() }
    }

    override suspend fun tapAdd() = withContext(MAIN) {
        if (screen().button == Button.SHOWN) model?.addTapped()
    }

    override suspend fun screen(): Screen {
        val page = model?.page?.value ?: return Screen(Button.ABSENT)
        return Screen(Button.valueOf(page.button.name), page.message)
    }

    override suspend fun closeCardPage() = withContext(MAIN) {
        scope.cancel()
        model = null
    }

    override suspend fun rotate() = withContext(MAIN) { model?.opened() ?: Unit }

    override suspend fun processDeath() = closeCardPage()

    override suspend fun reports(): Int = reports

    private companion object {
        val MAIN = Executors.newSingleThreadExecutor { Thread(it, "main thread").apply { isDaemon = true } }
            .asCoroutineDispatcher()
    }
}

fun main() = conform { backEnd, session -> ReferenceApp(backEnd, session) }
