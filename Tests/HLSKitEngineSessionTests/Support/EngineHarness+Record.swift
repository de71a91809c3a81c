import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection
import Testing

@testable import HLSKitEngine

extension EngineHarness {
    static func playing(
        _ path: String, from origin: ScriptedOrigin, preferences: PlayerItemPreferences = .init(),
        _ configure: (inout EngineConfiguration) -> Void = { _ in }
    ) -> Self {
        var configuration = EngineConfiguration()
        configure(&configuration)
        var harness = Self(origin: origin, configuration: configuration)
        harness.control(.play)
        harness.control(.setPreferences(preferences))
        harness.open(path)
        return harness
    }

    /// Statuses with reasons for waiting, stalls and ends, in order.
    var story: [String] {
        events.compactMap { _, kind in
            switch kind {
            case .timeControl(let change): change.reason?.rawValue ?? change.new.rawValue
            case .playbackStalled: "stalled"
            case .didPlayToEnd: "didPlayToEnd"
            case .failedToPlayToEnd: "failedToPlayToEnd"
            default: nil
            }
        }
    }

    var error: HLSError? { engine.item?.error }
    var didPlayToEnd: Bool { story.contains("didPlayToEnd") }
    var statistics: PlaybackStatistics { state.statistics }

    func requests(of path: String) -> [Request] { requests.filter { $0.path == path } }

    var mediaPaths: [String] { requests.map(\.path).filter { !$0.hasSuffix(".m3u8") } }

    var loadedSegments: [String] {
        events.compactMap { _, kind in
            guard case .segmentLoaded(let load) = kind else { return nil }
            return ScriptedOrigin.path(of: load.urlString)
        }
    }

    var skippedSegments: [SkippedSegments] {
        events.compactMap { _, kind in if case .segmentSkipped(let skipped) = kind { skipped } else { nil } }
    }

    /// The media sequence numbers of skipped segments. `missedSequences` are segments that left the live window.
    var skippedSequences: [ClosedRange<Int>] { skippedSegments.map { $0.first...$0.last } }

    var missedSequences: [ClosedRange<Int>] {
        events.compactMap { _, kind in
            guard case .segmentsMissed(let missed) = kind else { return nil }
            return missed.first...missed.last
        }
    }

    var variantSequence: [Int] {
        events.compactMap { _, kind in
            guard case .variantSwitched(_, let variant, _) = kind else { return nil }
            return variant.index
        }
    }

    func time(of matches: (PlayerEvent.Kind) -> Bool) -> Duration? { events.first { matches($0.kind) }?.time }

    var playingSince: Duration? {
        time { kind in
            if case .timeControl(let change) = kind { change.new == .playing } else { false }
        }
    }
}

extension EngineHarness: CustomTestStringConvertible {
    var testDescription: String { "player at \(now): \(story)" }
}
