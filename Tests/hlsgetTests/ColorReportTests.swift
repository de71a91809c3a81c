import HLSGetKit
import HLSKitCore
import Testing

@testable import hlsget

@Suite("Colours in inspect")
struct ColorReportTests {
    private static func track() -> MediaTrack {
        var track = MediaTrack(id: 1, mediaType: .video, codec: .hevc, timescale: 90_000, width: 64, height: 48)
        track.colorInformation = ColorInformation(
            colorPrimaries: 9, transferCharacteristics: 16, matrixCoefficients: 9, isFullRange: false)
        track.masteringDisplayColorVolume = MasteringDisplayColorVolume(primaries: nil, luminance: 0.005...1000)
        track.contentLightLevelInfo = ContentLightLevelInfo(
            maximumContentLightLevel: 900, maximumFrameAverageLightLevel: 400)
        return track
    }

    private static func json(_ track: MediaTrack) -> String {
        var object = JSONObject()
        ColorReport(track).add(to: &object)
        return object.value.text
    }

    @Test("J08: HDR grading is shown as text and as JSON")
    func grading() {
        let track = Self.track()
        #expect(
            ColorReport(track).notes == [
                "bt2020/smpte2084/bt2020nc", "graded on 0.005-1000 cd/m2", "pixels up to 900, frames up to 400 cd/m2",
            ])
        #expect(
            Self.json(track)
                == #"{"color_primaries":"bt2020","transfer_function":"smpte2084","matrix":"bt2020nc","#
                + #""mastering_display":{"minimum_luminance":0.005,"maximum_luminance":1000},"#
                + #""content_light_level":{"maximum":900,"maximum_frame_average":400}}"#)
    }

    @Test("J08: undeclared colours are not shown")
    func standard() {
        let track = MediaTrack(id: 1, mediaType: .video, codec: .h264, timescale: 90_000)
        #expect(ColorReport(track).notes.isEmpty)
        #expect(Self.json(track) == "{}")
    }
}
