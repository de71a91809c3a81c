import HLSKitCore
import TestSupport

struct Play: Sendable {
    var events: [PlayerEvent] = []
    var state = PlayerState()
    var error: HLSError?

    static func toEnd(_ item: PlayerItem, _ configuration: PlayerConfiguration) async throws -> Play {
        let player = Player(configuration: configuration)
        let events = player.events()
        player.play()
        try player.replaceCurrentItem(with: item)
        var play = Play()
        for await event in events {
            play.events.append(event)
            if event.isEnd { break }
        }
        play.state = player.state
        play.error = item.error
        await player.close()
        return play
    }

    var didPlayToEnd: Bool { events.contains { if case .didPlayToEnd = $0.kind { true } else { false } } }

    var statuses: [String] {
        events.compactMap { event in
            guard case .timeControl(let change) = event.kind else { return nil }
            return change.new.rawValue + (change.reason.map { " \($0.rawValue)" } ?? "")
        }
    }

    var segments: [SegmentLoad] {
        events.compactMap { if case .segmentLoaded(let load) = $0.kind { load } else { nil } }
    }

    var losses: [SkippedSegments] {
        events.compactMap { event in
            switch event.kind {
            case .segmentSkipped(let segments), .segmentsMissed(let segments): segments
            default: nil
            }
        }
    }
}

extension PlayerItem {
    convenience init(
        _ url: String, quality: String? = nil, to writer: (any MediaWriter)?,
        _ change: (PlayerItem) -> Void = { _ in }
    ) throws {
        self.init(urlString: url)
        if let quality { self.quality = try QualityExpression(parsing: quality) }
        change(self)
        if let writer { add(writer) }
    }
}

extension PlayerConfiguration {
    static func unpaced(_ network: TransportConfiguration = TransportConfiguration(proxy: .none)) -> Self {
        var configuration = PlayerConfiguration(
            transport: SchemeTransport(network: CurlTransport(configuration: network), local: LocalTransport()))
        configuration.pacing = .unpaced
        configuration.decodingThreadCount = 1
        return configuration
    }

    static func paced(by clock: SourceClock = .host) -> Self {
        var configuration = unpaced()
        configuration.pacing = .realTime
        configuration.sourceClock = clock
        return configuration
    }
}
