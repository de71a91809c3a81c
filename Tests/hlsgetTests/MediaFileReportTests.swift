import HLSKitCore
import Testing

@testable import hlsget

@Suite("what inspect says of tracks")
struct MediaFileReportTests {
    private static func track() -> MediaTrack {
        var track = MediaTrack(id: 1, mediaType: .video, codec: .hevc, timescale: 90_000, width: 64, height: 48)
        track.rotation = 90
        track.colorInformation = ColorInformation(
            colorPrimaries: 9, transferCharacteristics: 16, matrixCoefficients: 9, isFullRange: false)
        track.masteringDisplayColorVolume = MasteringDisplayColorVolume(primaries: nil, luminance: 0.005...1000)
        track.contentLightLevelInfo = ContentLightLevelInfo(
            maximumContentLightLevel: 900, maximumFrameAverageLightLevel: 400)
        return track
    }

    private static func json(_ track: MediaTrack) -> String {
        var object = JSONObject()
        MediaFileReport.add(track, to: &object)
        return object.value.text
    }

    @Test("J08: how HDR video was graded, for people and for programs")
    func grading() {
        let track = Self.track()
        #expect(
            MediaFileReport.notes(on: track).compactMap { $0 } == [
                "turned by 90°", "PQ", "mastered for 0.0050 to 1000 cd/m²", "at most 900 cd/m², 400 on average",
            ])
        #expect(
            Self.json(track)
                == #"{"videoRange":"PQ","masteringLuminance":{"minimum":0.005,"maximum":1000},"#
                + #""contentLightLevel":{"maximum":900,"frameAverage":400}}"#)
    }

    @Test("J08: nothing is said of what is not declared")
    func standard() {
        let track = MediaTrack(id: 1, mediaType: .video, codec: .h264, timescale: 90_000)
        #expect(MediaFileReport.notes(on: track).compactMap { $0 }.isEmpty)
        #expect(Self.json(track) == "{}")
    }
}
