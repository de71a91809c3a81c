import FoundationEssentials
import Glibc
import HLSGetKit
import HLSKitCore
import Synchronization

/// Notifies commands and servers of state changes (`--exec`, `--webhook`). The notices of one stream are sent in order.
///
/// Slow receivers are abandoned after ``deadline``, and the queue is limited.
final class AlertNotifier: Sendable {
    static let deadline = Duration.seconds(10)
    static let laneCount = 8
    /// The maximum number of notices in a lane's queue. The newest are dropped.
    static let maximumWaitingCount = 1000
    private static let delays: [Duration] = [.seconds(1), .seconds(5)]

    private struct Notice: Sendable {
        var members: [JSONValue.Member]
        var name: String
    }

    let commands: [String]
    let webhooks: [String]
    private let transport: any ResourceTransport
    private let clock: SourceClock
    private let warn: @Sendable (String) -> Void
    private let lanes: [(stream: AsyncStream<Notice>, continuation: AsyncStream<Notice>.Continuation)]

    init(
        commands: [String], webhooks: [String], transport: any ResourceTransport, clock: SourceClock,
        warn: @escaping @Sendable (String) -> Void
    ) {
        self.commands = commands
        self.webhooks = webhooks
        self.transport = transport
        self.clock = clock
        self.warn = warn
        lanes = (0..<Self.laneCount).map { _ in
            AsyncStream.makeStream(of: Notice.self, bufferingPolicy: .bufferingOldest(Self.maximumWaitingCount))
        }
    }

    var isNeeded: Bool { !commands.isEmpty || !webhooks.isEmpty }

    /// Queues a notice of a change. The first change to `up` needs no notice.
    func report(_ change: StreamHealth.Change, of stream: WatchedStream) {
        guard isNeeded, change.old != nil || change.new != .up else { return }
        let lane = Int(StableHash.value(of: stream.entry.name) % UInt64(lanes.count))
        guard lanes.indices.contains(lane) else { return }
        let notice = Notice(members: change.members(of: stream), name: stream.entry.name)
        if case .dropped = lanes[lane].continuation.yield(notice) {
            warn("too many state changes at once: the notice for \(stream.entry.name) was dropped")
        }
    }

    func run() async {
        guard isNeeded else { return }
        await withTaskGroup(of: Void.self) { group in
            for lane in lanes {
                group.addTask {
                    for await notice in lane.stream { await self.deliver(notice) }
                }
            }
        }
    }

    private func deliver(_ notice: Notice) async {
        for command in commands { await execute(command, notice) }
        for webhook in webhooks { await post(notice, to: webhook) }
    }

    // MARK: Commands

    /// The members of the JSON line as environment variables: `HLSGET_STREAM`, `HLSGET_NEW` and so on.
    static func variables(_ members: [JSONValue.Member]) -> [String: String] {
        var variables: [String: String] = [:]
        for member in members {
            let value =
                switch member.value {
                case .string(let text): text
                case .null: ""
                default: member.value.text
                }
            // An environment variable ends at its first NUL byte.
            variables["HLSGET_" + member.name.uppercased()] = value.replacing("\0", with: "")
        }
        return variables
    }

    private func execute(_ command: String, _ notice: Notice) async {
        let process: ShellProcess
        do {
            process = try ShellProcess(command, variables: Self.variables(notice.members))
        } catch {
            return warn("--exec: cannot run /bin/sh: \(String(cString: strerror(error.code)))")
        }
        let clock = clock
        let limit = Task {
            try await clock.sleep(for: Self.deadline)
            process.terminate()
            return true
        }
        let (_, status) = await withTaskCancellationHandler {
            await process.output(atMost: 64 << 10)
        } onCancel: {
            process.terminate()
        }
        limit.cancel()
        if case .success(true) = await limit.result {
            warn("--exec: the command for \(notice.name) was stopped after \(Int(Self.deadline.inSeconds)) s")
        } else if status != 0, !Task.isCancelled {
            warn("--exec: the command for \(notice.name) exited with \(status)")
        }
    }

    // MARK: Webhooks

    private func post(_ notice: Notice, to url: String) async {
        var request = TransportRequest(
            urlString: url, resourceClass: .report,
            fields: [TransportField(name: "Content-Type", value: "application/json")],
            timeouts: TransportTimeouts(total: Self.deadline), maximumByteCount: 64 << 10)
        if let origin = URLOrigin(of: url) { request.credentialOrigins = [origin] }
        request.body = Array(JSONValue.object(notice.members).text.utf8)
        var failure = ""
        for delay in Self.delays.map(Optional.some) + [nil] {
            guard let text = await send(request) else { return }
            failure = text
            guard let delay else { break }
            do { try await clock.sleep(for: delay) } catch { return }
        }
        warn("--webhook: cannot notify \(ErrorLine.printable(url: url)) of \(notice.name): \(failure)")
    }

    /// - Returns: Why the request failed, or `nil` if it succeeded.
    private func send(_ request: TransportRequest) async -> String? {
        let (answers, sink) = AsyncStream.makeStream(of: String?.self)
        let task = transport.start(request) { event in
            switch event {
            case .finished:
                sink.yield(nil)
                sink.finish()
            // An empty response also confirms receipt.
            case .failed(let error, _):
                sink.yield(error.code == .emptyBody ? nil : error.text)
                sink.finish()
            case .response, .data: break
            }
        }
        defer { task.cancel() }
        for await answer in answers { return answer }
        return "the request was cancelled"
    }
}
