/// The state of one connection to the monitor's server, without its socket. Each phase has a deadline.
struct ServerConnection: Sendable {
    /// The time until the head must be complete.
    static let headTime = Duration.seconds(5)
    /// The longest time in which the client may read nothing of the response.
    static let stuckTime = Duration.seconds(10)
    /// The maximum backlog of an event reader, in bytes.
    static let maximumWaitingByteCount = 16 << 20

    private enum Phase: Sendable, Equatable { case head, answer, events, over }

    private var phase = Phase.head
    private var input: [UInt8] = []
    private var output: [UInt8] = []
    private var sent = 0
    private(set) var deadline: Duration?

    init(at now: Duration) { deadline = now + Self.headTime }

    var wantsInput: Bool { phase == .head }
    var hasOutput: Bool { sent < output.count }
    var isOver: Bool { phase == .over || phase == .answer && !hasOutput }
    var takesEvents: Bool { phase == .events }
    var pending: ArraySlice<UInt8> { output[sent...] }

    /// Notes received bytes.
    ///
    /// - Parameter answer: Called once, with the path.
    mutating func receive(
        _ bytes: some Sequence<UInt8>, at now: Duration, answer: (String) -> HTTPAnswer
    ) {
        guard phase == .head else { return }
        input += bytes
        switch HTTPRequestHead.parse(input) {
        case .incomplete: return
        case .refused(let status): begin(.text("\(status)", status: status), at: now)
        case .request(let head): begin(answer(head.path), at: now)
        }
        input = []
    }

    private mutating func begin(_ answer: HTTPAnswer, at now: Duration) {
        output = answer.bytes
        phase = answer.isEventStream ? .events : .answer
        deadline = now + Self.stuckTime
    }

    mutating func noteSent(_ count: Int, at now: Duration) {
        sent += count
        deadline = now + Self.stuckTime
        guard sent >= output.count else { return }
        output = []
        sent = 0
        if phase == .events { deadline = nil }
    }

    /// Sends an event to an event reader and drops a reader with too much backlog.
    mutating func send(event bytes: [UInt8], at now: Duration) {
        guard phase == .events else { return }
        guard output.count - sent + bytes.count <= Self.maximumWaitingByteCount else {
            phase = .over
            return
        }
        if !hasOutput { deadline = now + Self.stuckTime }
        if sent > 0 { output.removeFirst(sent) }
        sent = 0
        output += bytes
    }

    mutating func end() { phase = .over }
}
