import HLSGetKit
import HLSKitCore

/// The colours of a track as its container declares them, and its mastering metadata for high dynamic range.
struct ColorReport: Sendable {
    private let color: ColorInformation?
    private let display: MasteringDisplayColorVolume?
    private let light: ContentLightLevelInfo?

    init(_ track: MediaTrack) {
        color = track.colorInformation
        display = track.masteringDisplayColorVolume
        light = track.contentLightLevelInfo
    }

    // MARK: Text

    /// The declared colours, most requested first, or empty if none are declared.
    var notes: [String] {
        [color.map { Self.names($0).joined(separator: "/") }, graded, lightLevels].compactMap(\.self)
    }

    /// FFmpeg's names of primaries, transfer function and matrix.
    private static func names(_ color: ColorInformation) -> [String] {
        [
            ColorPrimaries(rawValue: color.colorPrimaries).description,
            TransferFunction(rawValue: color.transferCharacteristics).description,
            YCbCrMatrix(rawValue: color.matrixCoefficients).description,
        ]
    }

    private var graded: String? {
        guard let luminance = display?.luminance else { return nil }
        return "graded on \(Self.light(luminance.lowerBound))-\(Self.light(luminance.upperBound)) cd/m2"
    }

    private var lightLevels: String? {
        guard let light else { return nil }
        let levels = [
            ("pixels", light.maximumContentLightLevel), ("frames", light.maximumFrameAverageLightLevel),
        ]
        let known = levels.filter { $0.1 > 0 }.map { "\($0.0) up to \($0.1)" }
        return known.isEmpty ? nil : known.joined(separator: ", ") + " cd/m2"
    }

    /// Formats candelas per square metre without trailing zeros.
    private static func light(_ value: Double) -> String {
        var text = Decimals.text(value, places: 4)
        while text.contains("."), let last = text.last, last == "0" || last == "." { text.removeLast() }
        return text
    }

    // MARK: JSON

    func add(to object: inout JSONObject) {
        if let color {
            let names = Self.names(color)
            object.add("color_primaries", names[0])
            object.add("transfer_function", names[1])
            object.add("matrix", names[2])
        }
        if let display {
            var volume = JSONObject()
            if let primaries = display.primaries {
                volume.add("red", Self.value(primaries.red))
                volume.add("green", Self.value(primaries.green))
                volume.add("blue", Self.value(primaries.blue))
                volume.add("white_point", Self.value(primaries.whitePoint))
            }
            volume.add("minimum_luminance", display.luminance.map { .number($0.lowerBound) })
            volume.add("maximum_luminance", display.luminance.map { .number($0.upperBound) })
            object.add("mastering_display", volume.value)
        }
        if let light {
            var levels = JSONObject()
            levels.add("maximum", light.maximumContentLightLevel > 0 ? light.maximumContentLightLevel : nil)
            levels.add(
                "maximum_frame_average",
                light.maximumFrameAverageLightLevel > 0 ? light.maximumFrameAverageLightLevel : nil)
            object.add("content_light_level", levels.value)
        }
    }

    private static func value(_ place: MasteringDisplayColorVolume.Chromaticity) -> JSONValue {
        [.number(place.x), .number(place.y)]
    }
}
