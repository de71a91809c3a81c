import HLSKitLoading
import HLSKitPlaylist
import HLSKitTime
import TestSupport
import Testing

@testable import HLSKitEngine

@Suite("Engine, ad markers")
struct EngineSpliceMarkerTests {
    private static func reported(_ harness: EngineHarness) -> [(text: String, time: Double, place: Double)] {
        harness.events.compactMap { time, kind in
            guard case .spliceMarker(let marker, let place) = kind else { return nil }
            return (marker.tag, time.seconds, place.seconds)
        }
    }

    @Test("K13: a live stream reports its breaks at their time, without outputs")
    func live() {
        var broadcast = Broadcast()
        broadcast.tags = { number in
            number == 106
                ? ["#EXT-X-CUE-OUT:8"]
                : number == 107 ? ["#EXT-X-CUE-OUT-CONT:4/8"] : number == 108 ? ["#EXT-X-CUE-IN"] : []
        }
        let stream = broadcast
        var origin = ScriptedOrigin()
        origin.routes["live.m3u8"] = { visit in .text(stream.text(at: visit.time)) }
        var harness = EngineHarness.playing("live.m3u8", from: origin)
        harness.run(until: .seconds(8))
        let ahead = harness.state.currentTime.seconds - harness.now.seconds
        #expect(Self.reported(harness).isEmpty)
        harness.run(until: .seconds(40))
        let reported = Self.reported(harness)
        #expect(reported.map(\.text) == ["EXT-X-CUE-OUT", "EXT-X-CUE-IN"])
        #expect(reported.map(\.place) == [24, 32])
        for event in reported { #expect(abs(event.time + ahead - event.place) < 0.002) }
        #expect(harness.violations.isEmpty)
    }

    @Test("K13: seeks skip breaks, and enter them")
    func seeks() {
        var text = PlaylistText.numbered(0, count: 20, isEnded: true)
        for first in [2, 10] {
            text.segments[first].tags = ["#EXT-X-CUE-OUT:8"]
            text.segments[first + 1].tags = ["#EXT-X-CUE-OUT-CONT:4/8"]
            text.segments[first + 2].tags = ["#EXT-X-CUE-IN"]
        }
        var origin = ScriptedOrigin()
        origin.answer("vod.m3u8", .text(text))
        var harness = EngineHarness.playing("vod.m3u8", from: origin)
        harness.run(until: .seconds(2))
        harness.control(.seek(to: .seconds(45)))
        harness.run(until: .seconds(9))
        #expect(Self.reported(harness).map(\.text) == ["EXT-X-CUE-OUT-CONT", "EXT-X-CUE-IN"])
        #expect(Self.reported(harness).map(\.place) == [44, 48])
        harness.control(.seek(to: .seconds(39)))
        harness.run(until: .seconds(30))
        #expect(Self.reported(harness).dropFirst(2).map(\.place) == [40, 48])
    }

    @Test("K13: a stream without markers schedules no wake-ups for them")
    func without() {
        var harness = EngineHarness.playing("vod.m3u8", from: .vod())
        harness.run(until: .seconds(5))
        #expect(harness.engine.nextPassageMoment == nil)
        #expect(harness.engine.item?.spliceMarkers.isDue(at: .zero) == false)
        #expect(harness.engine.item?.metadata.isDue(at: .zero) == false)
    }
}
