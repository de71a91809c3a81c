import HLSKitCore
import HLSKitSimulation
import Synchronization

/// A player with several items and a virtual clock. Each item has its own synthetic stream.
final class VirtualQueue: Sendable {
    /// Fast enough for all items, with a low latency.
    static let fastLink = "1000,20000,20\n"

    let clock = VirtualClock()
    let configuration: PlayerConfiguration

    /// - Parameters:
    ///   - lengths: The seconds of media by item name. Other items are not found.
    ///   - answer: Returns a response that takes precedence.
    init(
        _ lengths: [String: Int], over trace: String = fastLink,
        change: (inout PlayerConfiguration) -> Void = { _ in },
        answer: @escaping @Sendable (SimulatedRequest) -> SimulatedResponse? = { _ in nil }
    ) throws {
        let streams = lengths.mapValues { length in
            SyntheticStream(
                bitRates: [400_000], segmentDuration: .seconds(min(length, 2)), segmentCount: (length + 1) / 2)
        }
        let log = Log()
        let transport = SimulatedTransport(over: try NetworkTrace(parsing: trace.utf8), clock: clock) { request in
            let parts = request.urlString.dropFirst("https://".count).split(separator: ".", maxSplits: 1)
            let name = String(parts.first ?? "")
            log.note(name)
            if let answer = answer(request) { return answer }
            guard let stream = streams[name] else { return .notFound }
            var inner = request
            inner.urlString = "https://synthetic." + (parts.last ?? "").prefix { $0 != "?" && $0 != "#" }
            return stream.response(to: inner)
        }
        var configuration = PlayerConfiguration(clock: clock, transport: transport)
        configuration.decodesWithoutOutput = [.video]
        change(&configuration)
        self.configuration = configuration
        self.log = log
    }

    private let log: Log

    final class Log: Sendable {
        private let names = Mutex<[String]>([])
        func note(_ name: String) { names.withLock { $0.append(name) } }
        var all: [String] { names.withLock { $0 } }
    }

    var requestedNames: [String] { log.all }

    func item(_ name: String, to writer: (any MediaWriter)? = nil) -> PlayerItem {
        let item = PlayerItem(urlString: "https://\(name).invalid/index.m3u8")
        if let writer { item.add(writer) }
        return item
    }
}

/// Records the arrival of each frame on the virtual clock.
final class FrameLog: FrameWriter {
    struct Entry: Sendable, Equatable {
        var name: String
        var itemTime: Duration
        var hostTime: Duration
    }

    private let clock: VirtualClock
    private let entries = Mutex<[Entry]>([])
    let mediaTypes: Set<MediaKind> = [.video]

    init(clock: VirtualClock) { self.clock = clock }

    var frames: [Entry] { entries.withLock { $0 } }

    func note(_ name: String, _ frame: VideoFrame) {
        let time = frame.itemTime?.duration ?? .seconds(-1)
        entries.withLock { $0.append(Entry(name: name, itemTime: time, hostTime: clock.now.offset)) }
    }

    func write(_ frame: VideoFrame, ofTrackAt index: Int) throws(HLSError) { note("", frame) }
    func begin(_ tracks: [MediaTrack]) {}
    func flush() {}
    func finish() {}

    func named(_ name: String) -> any MediaWriter { Named(name: name, log: self) }

    private struct Named: FrameWriter {
        let name: String
        let log: FrameLog
        var mediaTypes: Set<MediaKind> { log.mediaTypes }
        func write(_ frame: VideoFrame, ofTrackAt index: Int) throws(HLSError) { log.note(name, frame) }
        func begin(_ tracks: [MediaTrack]) {}
        func flush() {}
        func finish() {}
    }
}

extension MediaTime {
    var inSeconds: Double { (seconds * 1e6).rounded() / 1e6 }
}
