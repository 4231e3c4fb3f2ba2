"""A second tap: ways in which teams keep it away, and ways that do not."""

import pytest
from sample_projects import judge

from workbook.tools.harness.model import Verdict

CLOSED = {
    "view_fragment": """
class F : Fragment() {
    private lateinit var b: Binding
    override fun onViewCreated() { b.add.setOnClickListener { onAdd() } }
    private fun onAdd() {
        b.add.isEnabled = false
        lifecycleScope.launch {
            val r = sdk.provision(a, b2, c)
            b.add.isEnabled = true } } }
""",
    "gone": """
class F : Fragment() {
    fun x() {
        v.setOnClickListener {
            it.visibility = View.GONE
            lifecycleScope.launch { sdk.provision(a, b, c) } } } }
""",
    "sealed_state": """
sealed interface S {
    object Ready : S
    object Working : S
    object Hidden : S }
class VM {
    private val _s = MutableStateFlow<S>(S.Hidden)
    val s = _s.asStateFlow()
    fun tap() {
        _s.value = S.Working
        scope.launch {
            sdk.provision(a, b, c)
            _s.value = S.Ready } } }
@Composable fun P(vm: VM) {
    when (vm.s.collectAsState().value) {
        S.Ready -> Button(onClick = vm::tap) { }
        S.Working -> Spinner()
        S.Hidden -> Unit } }
""",
    "job": """
class VM {
    private var attempt: Job? = null
    fun tap() {
        if (attempt?.isActive == true) return
        attempt = scope.launch { sdk.provision(a, b, c) } } }
@Composable fun P(vm: VM) { Button(onClick = { vm.tap() }) {} }
""",
    "compose_local": """
@Composable fun P(sdk: CardProvisioning) {
    var running by remember { mutableStateOf(false) }
    val scope = rememberCoroutineScope()
    Button(enabled = !running, onClick = {
        running = true
        scope.launch { try { sdk.provision(a, b, c) } finally { running = false } }
    }) {} }
""",
    "livedata_xml": """
class VM {
    val busy = MutableLiveData(false)
    fun onAdd() {
        busy.value = true
        viewModelScope.launch {
            sdk.provision(a, b, c)
            busy.value = false } } }
""",
    "repo_layer": """
class Repo(private val sdk: CardProvisioning) {
    suspend fun add(n: String) = sdk.provision(n, A(), O()) }
class VM(private val repo: Repo) {
    private val _u = MutableStateFlow(U())
    fun onAddClicked() {
        if (_u.value.inProgress) return
        _u.value = _u.value.copy(inProgress = true)
        viewModelScope.launch {
            val r = repo.add("x")
            _u.value = _u.value.copy(inProgress = false) } } }
@Composable fun S(vm: VM) { Button(onClick = vm::onAddClicked) {} }
""",
    "event_flow": """
class VM {
    private val taps = MutableSharedFlow<Unit>()
    private var busy = false
    init {
        scope.launch { taps.collect { go() } } }
    fun tapped() {
        if (busy) return
        busy = true
        taps.tryEmit(Unit) }
    private suspend fun go() {
        sdk.provision(a, b, c)
        busy = false } }
""",
    "helper_fn": """
class F : Fragment() {
    fun onAdd() {
        showBusy(true)
        lifecycleScope.launch {
            sdk.provision(a, b, c)
            showBusy(false) } }
    private fun showBusy(on: Boolean) { binding.add.isEnabled = !on }
    fun v() { binding.add.setOnClickListener { onAdd() } } }
""",
    "mutex": """
class VM {
    private val lock = Mutex()
    fun tap() {
        scope.launch {
            if (!lock.tryLock()) return@launch
            try { sdk.provision(a, b, c) } finally { lock.unlock() } } } }
@Composable fun P(vm: VM) { Button(onClick = vm::tap) {} }
""",
    "derived": """
class VM {
    private val phase = MutableStateFlow(Phase.IDLE)
    val canTap = phase.map { it == Phase.IDLE }
    fun tap() {
        phase.value = Phase.RUNNING
        scope.launch {
            sdk.provision(a, b, c)
            phase.value = Phase.IDLE } } }
@Composable fun P(vm: VM) {
    val ok by vm.canTap.collectAsState()
    AddButton(isEnabled = ok, onClick = vm::tap) }
""",
    "setEnabled": """
class A : Activity() {
    fun add(v: View) {
        v.setEnabled(false)
        scope.launch {
            sdk.provision(a, b, c)
            v.setEnabled(true) } } }
""",
    "dialog": """
class A : Activity() {
    private fun start() {
        val d = ProgressDialog.show(this, "", "", true, false)
        if (running.getAndSet(true)) return
        scope.launch { sdk.provision(a,b,c) } } }
""",
    "snap": """
class VM {
    var ui by mutableStateOf(Ui.Idle)
    private set
    fun add() {
        if (ui == Ui.Adding) return
        ui = Ui.Adding
        viewModelScope.launch {
            sdk.provision(a, b, c)
            ui = Ui.Idle } } }
@Composable fun P(vm: VM) { Button(onClick = vm::add) {} }
""",
    "mvi": """
class Store {
    fun dispatch(tap: Tap) {
        if (state.value.phase == Phase.OFFER) {
            reduce { copy(phase = Phase.BUSY) }
            run() } }
    private fun run() {
        scope.launch {
            sdk.provision(a, b, c)
            reduce { copy(phase = Phase.DONE) } } }
    private fun reduce(f: St.() -> St) { state.value = state.value.f() } }
""",
    "presenter": """
class Presenter(val view: Locking) {
    fun onAdd() {
        view.lockButton()
        scope.launch {
            sdk.provision(a, b, c)
            view.unlockButton() } } }
class Page : Locking {
    fun lockButton() { button.isEnabled = false }
    fun unlockButton() { button.isEnabled = true } }
""",
}
CLOSED["page_is_hidden"] = """
class F : Fragment() {
    fun v() {
        binding.add.setOnClickListener { model.tap() }
        model.ui.observe(owner) { ui ->
            binding.spinner.isVisible = ui.busy
            binding.content.isVisible = !ui.busy } } }
class VM {
    fun tap() {
        _ui.value = _ui.value?.copy(busy = true)
        scope.launch { sdk.provision(a, b, c) } } }
"""
CLOSED["another_call_suspends"] = """
class VM {
    fun tap() {
        if (busy) return
        busy = true
        scope.launch {
            val address = address()
            sdk.provision(a, address, c)
            busy = false } }
    private suspend fun address() = backEnd.address() }
@Composable fun P(vm: VM) {
    LaunchedEffect(Unit) { vm.address() }
    Button(onClick = { vm.tap() }) {} }
"""
OPEN = {
    "none_view": """
class F : Fragment() {
    fun v() { b.add.setOnClickListener { onAdd() } }
    private fun onAdd() {
        lifecycleScope.launch {
            val r = sdk.provision(a, b2, c)
            b.add.isEnabled = true } } }
""",
    "visible_only": """
class VM {
    private val _v = MutableStateFlow(false)
    val visible = _v.asStateFlow()
    fun opened() { scope.launch { _v.value = sdk.canProvision() } }
    fun tap() { scope.launch { sdk.provision(a, b, c) } } }
@Composable fun P(vm: VM) {
    val visible by vm.visible.collectAsState()
    if (visible) Button(onClick = vm::tap) {} }
""",
    "loading_spinner": """
class VM {
    private val _u = MutableStateFlow(U())
    fun tap() {
        _u.update { it.copy(isLoading = true) }
        scope.launch {
            sdk.provision(a, b, c)
            _u.update { it.copy(isLoading = false) } } } }
@Composable fun P(vm: VM) {
    val u by vm.u.collectAsState()
    if (u.isLoading) Spinner()
    Button(onClick = vm::tap) {} }
""",
    "after_launch_late": """
class VM {
    var busy by mutableStateOf(false)
    fun tap() {
        scope.launch {
            val r = sdk.provision(a, b, c)
            busy = true } } }
@Composable fun P(vm: VM) { Button(onClick = vm::tap, enabled = !vm.busy) {} }
""",
    "debounce": """
class F {
    fun v() { add.clicks().debounce(300).onEach { tap() } }
    fun tap() { scope.launch { sdk.provision(a, b, c) } } }
""",
    "enabled_other": """
class VM {
    var agreed by mutableStateOf(false)
    fun tap() { scope.launch { sdk.provision(a, b, c) } } }
@Composable fun P(vm: VM) {
    Checkbox(vm.agreed) { vm.agreed = it }
    Button(onClick = vm::tap, enabled = vm.agreed) {} }
""",
    "message": """
class VM {
    private val _u = MutableStateFlow(U())
    fun tap() {
        _u.update { it.copy(error = null) }
        scope.launch { sdk.provision(a, b, c) } } }
@Composable fun P(vm: VM) {
    val u by vm.u.collectAsState()
    if (u.error != null) Text(u.error)
    if (u.canAdd) Button(onClick = vm::tap) {} }
""",
    "another_event": """
class VM {
    fun on(event: Event) {
        when (event) {
            Event.Opened -> open()
            Event.Tap -> add() } }
    private fun open() { _s.update { it.copy(shown = true) } }
    private fun add() { scope.launch { sdk.provision(a, b, c) } } }
@Composable fun P(vm: VM) { if (vm.s.shown) Button(onClick = { vm.on(Event.Tap) }) {} }
""",
    "after_a_call_that_suspends": """
class VM {
    var busy by mutableStateOf(false)
    fun tap() {
        if (busy) return
        scope.launch {
            val address = address()
            busy = true
            sdk.provision(a, address, c) } }
    private suspend fun address() = backEnd.address() }
@Composable fun P(vm: VM) { Button(onClick = vm::tap, enabled = !vm.busy) {} }
""",
    "in_a_job_that_waits_first": """
class F : Fragment() {
    fun x() { b.add.setOnClickListener { add() } }
    private fun add() {
        lifecycleScope.launch {
            delay(500)
            b.add.isEnabled = false }
        lifecycleScope.launch { sdk.provision(a, b2, c) } } }
""",
    "posted_for_later": """
class F : Fragment() {
    fun x() { b.add.setOnClickListener { add() } }
    private fun add() {
        handler.postDelayed({ b.add.isEnabled = false }, 300)
        lifecycleScope.launch { sdk.provision(a, b2, c) } } }
""",
    "gone_after_a_wait": """
class F : Fragment() {
    fun x() {
        v.setOnClickListener {
            lifecycleScope.launch {
                delay(200)
                v.visibility = View.GONE
                sdk.provision(a, b, c) } } } }
""",
    "spinner_of_a_view": """
class F : Fragment() {
    fun v() {
        binding.add.setOnClickListener { model.tap() }
        model.ui.observe(owner) { ui ->
            binding.add.isVisible = ui.offered
            binding.spinner.isVisible = ui.busy } } }
class VM {
    fun tap() {
        _ui.value = _ui.value?.copy(busy = true)
        scope.launch { sdk.provision(a, b, c) } } }
""",
    "cond_null": """
class VM {
    fun tap() {
        val s = sdk ?: return
        if (card == null) return
        attempts += 1
        scope.launch { s.provision(a, b, c) } } }
@Composable fun P(vm: VM) { Button(onClick = vm::tap) {} }
""",
}
LAYOUT = '<layout><Button p:enabled="@{!vm.busy}" p:onClick="@{() -> vm.onAdd()}"/></layout>'


def verdict(folder, source):
    (folder / "build.gradle").write_text(
        "platform { defaultConfig { applicationId 'a.b' } }\n"
        "dependencies { implementation 'operator:card-provisioning:0.4.1' }\n"
    )
    (folder / "Page.kt").write_text(f"import provisioning.CardProvisioning\n{source}")
    return judge("kotlin.button", folder).verdict


@pytest.mark.rule("A-BTN-1")
@pytest.mark.parametrize("way", CLOSED)
def test_a_way_that_is_closed_raises_no_alarm(tmp_path, way):
    (tmp_path / "page.xml").write_text(LAYOUT if way == "livedata_xml" else "<layout/>")
    assert verdict(tmp_path, CLOSED[way]) is Verdict.PASS


@pytest.mark.rule("A-BTN-1")
@pytest.mark.parametrize("way", OPEN)
def test_a_way_that_is_open_fails_whatever_its_words_are(tmp_path, way):
    assert verdict(tmp_path, OPEN[way]) is Verdict.FAIL
