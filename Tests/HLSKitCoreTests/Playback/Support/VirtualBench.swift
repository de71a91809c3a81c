import Foundation
import HLSKitEngine
import HLSKitPlayback
import HLSKitSimulation
import HLSKitTime
import TestSupport

/// A player of the sample under a virtual clock, with a simulated link and a writer that keeps everything.
///
/// Create it outside ``VirtualClock/run(_:)`` and use it inside.
struct VirtualBench: Sendable {
    let clock: VirtualClock
    let transport: CountingTransport
    let writer: CapturingWriter
    let player: Player
    let item: PlayerItem

    /// - Parameters:
    ///   - path: The file to play, from the sample's folder or from `files`.
    ///   - answer: Returns the content of a name at a time. It takes precedence over all files.
    init(
        _ path: String = "master.m3u8", quality: String? = "180p", files: [String: [UInt8]] = [:],
        bitsPerSecond: Double = 50_000_000, change: (inout PlayerConfiguration) -> Void = { _ in },
        answer: @escaping @Sendable (String, Duration) -> [UInt8]? = { _, _ in nil }
    ) throws {
        let clock = VirtualClock()
        let conditions = LinkConditions(bitsPerSecond: bitsPerSecond, latency: .milliseconds(20))
        let simulated = SimulatedTransport(over: NetworkTrace(constant: conditions), clock: clock) { request in
            let name = String(request.urlString.split(separator: "/").last ?? "")
            let stored = answer(name, clock.now.offset) ?? files[name]
            guard
                let body = stored
                    ?? FileManager.default.contents(atPath: "\(SampleMedia.folder)/\(name)").map(Array.init)
            else { return SimulatedResponse(status: 404) }
            return SimulatedResponse(body: body)
        }
        transport = CountingTransport(simulated)
        var configuration = PlayerConfiguration(clock: clock, transport: transport)
        configuration.decodingThreadCount = 1
        change(&configuration)
        writer = CapturingWriter()
        player = Player(configuration: configuration)
        item = try PlayerItem("http://sample/\(path)", quality: quality, to: writer)
        self.clock = clock
    }

    func play<Value: Sendable>(_ body: @escaping @Sendable (VirtualBench) async throws -> Value) throws -> Value {
        player.play()
        try player.replaceCurrentItem(with: item)
        return try clock.run {
            let value = try await body(self)
            await player.close()
            return value
        }
    }

    func pass(_ duration: Duration) async throws {
        try await clock.sleep(for: duration)
    }

    func seek(_ milliseconds: Int, tolerance: Int? = 0) async throws -> Bool {
        let tolerance = tolerance.map { MediaTime(value: Int64($0), timescale: 1000) } ?? .positiveInfinity
        return try await player.seek(
            to: MediaTime(value: Int64(milliseconds), timescale: 1000), toleranceBefore: tolerance,
            toleranceAfter: tolerance)
    }

    var time: Double { player.state.currentTime.seconds }
}
