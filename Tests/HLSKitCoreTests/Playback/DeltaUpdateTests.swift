import HLSKitSimulation
import HLSPlaylist
import Synchronization
import TestSupport
import Testing

@testable import HLSKitCore

/// A live stream whose server can leave out of its list what is known.
@Suite("delta updates", .timeLimit(.minutes(1)))
struct DeltaUpdateTests {
    enum Server: Sendable, CaseIterable {
        case skips, ignores, refuses, confuses
    }

    private static let url = "https://host/live.m3u8?a=1"
    private static let count = 14
    /// Three packets.
    private static let media: [UInt8] = (0..<3 * 188).map { $0 % 188 == 0 ? 0x47 : 0 }

    /// Segments of four seconds, ten at first.
    private static func list(at time: Duration, skipping: Bool, by server: Server) -> [UInt8] {
        let listed = min(count, 10 + Int(time / .seconds(4)))
        var text = "#EXTM3U\n#EXT-X-VERSION:9\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:0\n"
        text += "#EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=24\n"
        var first = 0
        if skipping, server == .skips || server == .confuses {
            first = listed - 6
            text += "#EXT-X-SKIP:SKIPPED-SEGMENTS=\(server == .confuses ? 1000 : first)\n"
        }
        for number in first..<listed { text += "#EXTINF:4,\n\(number).ts\n" }
        return Array((text + (listed == count ? "#EXT-X-ENDLIST\n" : "")).utf8)
    }

    @Test(
        "C10: a list is asked for without what is known, and as a whole from then on where that brings nothing",
        arguments: Server.allCases)
    func reloads(server: Server) throws {
        let clock = VirtualClock()
        let link = NetworkTrace(constant: LinkConditions(bitsPerSecond: 20_000_000, latency: .milliseconds(20)))
        let asked = Recorder<String>()
        let transport = SimulatedTransport(over: link, clock: clock) { request in
            asked.append(request.urlString, at: clock.now.offset)
            guard request.urlString.contains("live.m3u8") else { return SimulatedResponse(body: Self.media) }
            let skips = request.urlString.hasSuffix("_HLS_skip=YES")
            if skips, server == .refuses { return SimulatedResponse(status: 400) }
            return SimulatedResponse(body: Self.list(at: clock.now.offset, skipping: skips, by: server))
        }
        var configuration = PlayerConfiguration(clock: clock, transport: transport)
        configuration.demuxesMedia = false
        let player = Player(configuration: configuration)
        let item = PlayerItem(urlString: Self.url)
        item.preferences.startPosition = .oldest
        let events = Recorder<PlayerEvent>()
        let stream = player.events()
        Task(executorPreference: clock) { for await event in stream { events.append(event, at: clock.now.offset) } }
        player.play()
        try player.replaceCurrentItem(with: item)
        clock.advance(by: .seconds(120))
        try clock.run { await player.close() }
        let isPlayed = events.elements.contains { if case .didPlayToEnd = $0.kind { true } else { false } }
        #expect(isPlayed, "\(events.elements.map(\.kind))")
        let lists = asked.elements.filter { $0.contains("live.m3u8") }
        let skipping = lists.filter { $0 == Self.url + "&_HLS_skip=YES" }
        #expect(lists.first == Self.url)
        #expect(lists.allSatisfy { $0 == Self.url || $0 == Self.url + "&_HLS_skip=YES" })
        switch server {
        case .skips, .ignores: #expect(skipping.count >= 3 && lists.count == skipping.count + 1)
        case .refuses: #expect(skipping.count == 1 && lists.count > 3)
        case .confuses:
            // Each is followed by the whole list, at once.
            #expect(skipping.count == 2 && lists.count > 5)
            let times = zip(asked.elements, asked.times).filter { $0.0.contains("live.m3u8") }
            for (one, next) in zip(times, times.dropFirst()) where one.0.contains("_HLS_skip") {
                #expect(next.1 - one.1 < .milliseconds(100))
            }
        }
        // Every segment once, at its own place.
        let segments = asked.elements.filter { $0.hasSuffix(".ts") }
        #expect(segments == (0..<Self.count).map { "https://host/\($0).ts" })
    }

    @Test("C10: it is asked for where the server offers it, leaves something out, and what is known is not too old")
    func offers() throws {
        func delta(_ tags: String, segments: Int = 10, age: Int = 4) throws -> DeltaUpdate? {
            let list = (0..<segments).map { "#EXTINF:4,\n\($0).ts\n" }.joined()
            let text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(tags)\n\(list)"
            guard case .media(let playlist) = try Playlist(parsing: Array(text.utf8), url: Self.url) else { return nil }
            let tracker = PlaylistTracker(
                playlist, requestURL: Self.url, url: Self.url, start: .zero, loadBegan: .zero, now: .zero)
            return DeltaUpdate(after: tracker, at: .seconds(age))
        }
        let tag = "#EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=24"
        #expect(try delta(tag)?.value == "YES")
        #expect(try delta(tag + ",CAN-SKIP-DATERANGES=YES")?.value == "v2")
        #expect(try delta("#EXT-X-VERSION:9") == nil)
        #expect(try delta(tag, segments: 6) == nil)
        #expect(try delta(tag, age: 12) == nil)
        #expect(try delta(tag + "\n#EXT-X-ENDLIST") == nil)
    }
}
