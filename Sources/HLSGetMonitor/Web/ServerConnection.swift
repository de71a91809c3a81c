/// What one connection to the monitor's server has said and is to be told. A value without a socket: bytes go in, bytes come
/// out, each with a deadline.
struct ServerConnection: Sendable {
    /// From the start to the end of the head.
    static let headTime = Duration.seconds(5)
    /// Without a byte of the answer being taken.
    static let stuckTime = Duration.seconds(10)
    /// What waits for a reader of events, at most.
    static let maximumWaitingByteCount = 16 << 20

    private enum Phase: Sendable, Equatable { case head, answer, events, over }

    private var phase = Phase.head
    private var input: [UInt8] = []
    private var output: [UInt8] = []
    private var sent = 0
    /// When it is given up.
    private(set) var deadline: Duration?

    init(at now: Duration) { deadline = now + Self.headTime }

    var wantsInput: Bool { phase == .head }
    var hasOutput: Bool { sent < output.count }
    var isOver: Bool { phase == .over || phase == .answer && !hasOutput }
    var takesEvents: Bool { phase == .events }
    /// What is to be sent next.
    var pending: ArraySlice<UInt8> { output[sent...] }

    /// Bytes have come.
    ///
    /// - Parameter answer: asked once, for the path.
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

    /// So many bytes were taken.
    mutating func noteSent(_ count: Int, at now: Duration) {
        sent += count
        deadline = now + Self.stuckTime
        guard sent >= output.count else { return }
        output = []
        sent = 0
        if phase == .events { deadline = nil }
    }

    /// Sends an event to a reader of events; one that does not read is given up.
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

    /// The other end is gone, or what was to come did not come.
    mutating func end() { phase = .over }
}
