import HLSKitEngine
import HLSKitPlayback
import HLSKitSimulation
import TestSupport

/// The sample as a live stream at `live.m3u8` that gains a segment of four seconds every four seconds.
struct VirtualLive: Sendable {
    let media: SampleMedia.Rendition
    /// The number of segments at time zero, and the largest number in a playlist.
    var listed = 6
    var window = 6
    var header: [String] = []
    var tags: @Sendable (Int) -> [String] = { _ in [] }
    var freeze = Duration.zero..<Duration.zero

    init() throws {
        media = try SampleMedia.rendition("video-180p")
    }

    func answer(_ name: String, at time: Duration) -> [UInt8]? {
        if name == "live.m3u8" { return Array(list(at: time).utf8) }
        if name == "live-init.mp4" { return media.initializationSection }
        guard name.hasPrefix("live-"), let index = Int(name.dropFirst(5).prefix { $0 != "." }) else { return nil }
        return media.segments.indices.contains(index) ? media.segments[index] : nil
    }

    private func list(at time: Duration) -> String {
        var time = time
        if time >= freeze.lowerBound { time -= min(time, freeze.upperBound) - freeze.lowerBound }
        let end = min(listed + Int(time / .seconds(4)), media.segments.count)
        let first = max(0, end - window)
        var lines = ["#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-TARGETDURATION:4", "#EXT-X-MEDIA-SEQUENCE:\(first)"]
        lines += header + ["#EXT-X-MAP:URI=\"live-init.mp4\""]
        for index in first..<end { lines += tags(index) + ["#EXTINF:\(media.durations[index]),", "live-\(index).m4s"] }
        return lines.joined(separator: "\n") + "\n"
    }
}

extension VirtualBench {
    init(_ live: VirtualLive, change: (inout PlayerConfiguration) -> Void = { _ in }) throws {
        try self.init("live.m3u8", quality: nil, change: change, answer: { live.answer($0, at: $1) })
    }
}

final class EventKeeper: Sendable {
    private let stream: AsyncStream<PlayerEvent>

    init(_ player: Player) { stream = player.events(bufferingNewest: .max) }

    /// Returns all events of the player, which must be closed.
    func all() async -> [PlayerEvent] {
        var events: [PlayerEvent] = []
        for await event in stream { events.append(event) }
        return events
    }
}

extension [PlayerEvent] {
    var rates: [String] {
        compactMap { event in
            guard case .rateChanged(let rate, let reason) = event.kind else { return nil }
            return "\(rate) \(reason.rawValue)"
        }
    }

    var story: [String] {
        compactMap { event in
            switch event.kind {
            case .timeControl(let change): change.reason?.rawValue ?? change.new.rawValue
            case .playbackStalled: "stalled"
            case .didPlayToEnd: "didPlayToEnd"
            default: nil
            }
        }
    }
}
