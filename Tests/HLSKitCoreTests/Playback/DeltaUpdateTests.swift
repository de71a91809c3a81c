import HLSKitEngine
import HLSKitPlayback
import HLSKitPlaylist
import HLSKitSimulation
import HLSKitTime
import TestSupport
import Testing

@testable import HLSKitSelection

@Suite("Delta updates", .timeLimit(.minutes(10)))
struct DeltaUpdateTests {
    @Test(
        "C10: a playlist is requested as a delta; if that fails, as a whole from then on",
        arguments: DeltaStream.Server.allCases)
    func reloads(server: DeltaStream.Server) throws {
        let stream = DeltaStream(server)
        let clock = stream.clock
        var configuration = PlayerConfiguration(clock: clock, transport: stream.transport)
        configuration.demuxesMedia = false
        let player = Player(configuration: configuration)
        let item = PlayerItem(urlString: DeltaStream.url)
        item.preferences.startPosition = .oldest
        let events = Recorder<PlayerEvent>()
        let reported = player.events()
        Task(executorPreference: clock) { for await event in reported { events.append(event, at: clock.now.offset) } }
        player.play()
        try player.replaceCurrentItem(with: item)
        clock.advance(by: .seconds(120))
        try clock.run { await player.close() }
        let isPlayed = events.elements.contains { if case .didPlayToEnd = $0.kind { true } else { false } }
        #expect(isPlayed, "\(events.elements.map(\.kind))")
        let (lists, skipping) = (stream.lists, stream.skipping)
        #expect(lists.first?.url == DeltaStream.url)
        #expect(lists.count { $0.url == DeltaStream.url } == lists.count - skipping.count)
        switch server {
        case .skips, .ignores: #expect(skipping.count >= 3 && lists.count == skipping.count + 1)
        case .refuses, .fails: #expect(skipping.count == 1 && lists.count > 3)
        case .confuses:
            #expect(skipping.count == 2 && lists.count > 5)
            for (one, next) in zip(lists, lists.dropFirst()) where one.url.contains("_HLS_skip") {
                #expect(next.time - one.time < .milliseconds(100))
            }
        }
        #expect(stream.segments == DeltaStream.segmentNames)
    }

    @Test("C10: a delta is requested if the server offers it, it skips segments, and the playlist is recent")
    func offers() throws {
        func delta(_ tags: String, segments: Int = 10, age: Int = 4) throws -> DeltaUpdate? {
            let list = (0..<segments).map { "#EXTINF:4,\n\($0).ts\n" }.joined()
            let text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(tags)\n\(list)"
            guard case .media(let playlist) = try Playlist(parsing: Array(text.utf8), url: DeltaStream.url) else {
                return nil
            }
            let tracker = PlaylistTracker(
                playlist, requestURL: DeltaStream.url, url: DeltaStream.url, start: .zero, loadBegan: .zero, now: .zero)
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
