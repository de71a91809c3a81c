import Foundation
package import HLSKitCodec
package import HLSKitEngine
package import HLSKitPlayback
package import HLSKitSelection
package import HLSKitSimulation
import HLSKitTime
import Synchronization

package struct VirtualSample {
    package let clock = VirtualClock()
    package let player: Player
    package let item: PlayerItem
    package let events = Recorder<PlayerEvent>()

    package init(
        end: Duration = .seconds(40), quality: String? = "180p", path: String = "master.m3u8",
        files: [String: [UInt8]] = [:],
        change: (inout PlayerConfiguration) -> Void = { _ in },
        prefer: (inout PlayerItemPreferences) -> Void = { _ in }
    ) throws {
        let transport = SimulatedTransport(over: try NetworkTrace(parsing: "1000,50000,20\n".utf8), clock: clock) {
            request in
            let name = request.urlString.split(separator: "/").last.map(String.init) ?? ""
            let type = name.hasSuffix("m3u8") ? "application/vnd.apple.mpegurl" : "video/mp4"
            if let file = files[name] { return SimulatedResponse(contentType: type, body: file) }
            for folder in [SampleMedia.folder, SampleMedia.fixtures + "/media"] {
                guard let data = try? Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)")) else { continue }
                return SimulatedResponse(contentType: type, body: Array(data))
            }
            return .notFound
        }
        var configuration = PlayerConfiguration(clock: clock, transport: transport)
        configuration.decodingThreadCount = 1
        change(&configuration)
        player = Player(configuration: configuration)
        item = PlayerItem(urlString: "https://sample.invalid/\(path)")
        if let quality { item.quality = try QualityExpression(parsing: quality) }
        item.endPosition = .time(MediaTime(end))
        prefer(&item.preferences)
    }

    /// Plays to the end and calls `step` every 10 ms of the clock.
    package func play(step: (Duration) throws -> Void = { _ in }) throws {
        record(player.events(), in: events)
        player.play()
        try player.replaceCurrentItem(with: item)
        var checkedCount = 0
        for index in 0..<10_000 {
            // A search of all events in each step would take most of the time of these tests.
            let elements = events.elements
            if elements[checkedCount...].contains(where: \.isEnd) { break }
            checkedCount = elements.count
            clock.advance(by: .milliseconds(10))
            try step(.milliseconds(10) * (index + 1))
        }
        let player = player
        try clock.run { await player.close() }
    }

    package func record<Element: Sendable>(_ stream: AsyncStream<Element>, in recorder: Recorder<Element>) {
        let clock = clock
        Task(executorPreference: clock) {
            for await element in stream { recorder.append(element, at: clock.now.offset) }
            recorder.finish()
        }
    }

    /// The clock time that corresponds to item time zero, or `nil` before playback starts.
    package var epoch: Duration? {
        for event in events.elements {
            guard case .timeControl(let change) = event.kind, change.new == .playing else { continue }
            return change.itemTime.duration.map { event.hostTime.offset - $0 }
        }
        return nil
    }

    package var reportedCues: [LegibleCue] {
        events.elements.compactMap { if case .legibleCue(let cue) = $0.kind { cue } else { nil } }
    }

    package var timeControlChanges: [TimeControlChange] {
        events.elements.compactMap { if case .timeControl(let change) = $0.kind { change } else { nil } }
    }
}

package final class Recorder<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        var times: [Duration] = []
        var isFinished = false
    }

    private let state = Mutex(State())

    package init() {}

    package var elements: [Element] { state.withLock(\.elements) }
    package var times: [Duration] { state.withLock(\.times) }
    package var isFinished: Bool { state.withLock(\.isFinished) }

    package func append(_ element: Element, at time: Duration) {
        state.withLock {
            $0.elements.append(element)
            $0.times.append(time)
        }
    }

    func finish() { state.withLock { $0.isFinished = true } }
}

extension VideoFrame {
    /// The hash in the form of ``SampleMedia/frameHashes(of:)``.
    package var hash: String {
        get throws { String(try digest().prefix(8)) }
    }
}

extension PlayerEvent {
    package var isEnd: Bool {
        switch kind {
        case .didPlayToEnd, .itemStatusChanged(.failed): true
        default: false
        }
    }
}
