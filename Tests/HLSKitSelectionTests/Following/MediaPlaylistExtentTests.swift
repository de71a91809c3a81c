import HLSKitEngine
import HLSKitPlayback
import HLSKitPlaylist
import HLSKitSimulation
import Testing

@Suite("Contents of a loaded playlist")
struct MediaPlaylistExtentTests {
    @Test("playlist events have the media playlists' sequence numbers and target duration")
    func events() throws {
        let clock = VirtualClock()
        let stream = SyntheticStream(
            bitRates: [8000], segmentDuration: .seconds(4), segmentCount: 100, liveWindow: 5)
        let transport = SimulatedTransport(
            stream, over: NetworkTrace(constant: LinkConditions(bitsPerSecond: 10_000_000, latency: .milliseconds(10))),
            clock: clock)
        let configuration = PlayerConfiguration(clock: clock, transport: transport)
        let loads = try clock.run {
            let player = Player(urlString: stream.urlString, configuration: configuration)
            let events = player.events()
            player.play()
            var loads: [PlaylistLoad] = []
            for await event in events {
                guard case .playlistLoaded(let load) = event.kind else { continue }
                loads.append(load)
                if loads.count == 5 { break }
            }
            await player.close()
            return loads
        }
        #expect(loads.first?.isMultivariant == true && loads.first?.extent == nil)
        let extents = loads.compactMap(\.extent)
        #expect(extents.count == 4)
        for extent in extents {
            #expect(extent.targetDuration == .seconds(4) && extent.segmentCount == 5 && !extent.hasEndList)
        }
        #expect(extents.first?.endMediaSequence == 5)
        #expect((extents.last?.endMediaSequence ?? 0) > 5)
    }

    @Test("impossible numbers do not trap")
    func wild() {
        let extent = MediaPlaylistExtent(
            targetDuration: .zero, firstMediaSequence: .max, segmentCount: 1, lastDiscontinuitySequence: .min)
        #expect(extent.endMediaSequence == .min)
    }
}
