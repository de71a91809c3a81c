import HLSKitLoading
import HLSKitPlaylist
public import HLSKitTime

extension ContactSheet {
    /// Returns a storyboard: a WebVTT file whose cues name the tile for their time as a media fragment.
    ///
    /// A cue refers to its tile with a spatial media fragment (`sheet.jpg#xywh=0,0,320,180`).
    ///
    /// - Parameters:
    ///   - timeRanges: The time range of each image, in the order of the tiles. A range that is empty, not numeric, or
    ///     beyond the last tile has no cue.
    ///   - imageURI: The URI of the sheet, relative to the WebVTT file and without a fragment. Invalid characters are
    ///     escaped.
    public func webVTT(timeRanges: [MediaTimeRange], imageURI: String) -> String {
        let uri = Self.escaped(imageURI)
        var text = "WEBVTT\n"
        for (index, range) in timeRanges.enumerated() {
            guard let rect = rect(ofTileAt: index), let start = range.start.duration, let end = range.end.duration,
                start >= .zero, start < end
            else { continue }
            let place = [rect.x, rect.y, rect.width, rect.height].map { String(Int($0)) }.joined(separator: ",")
            text += "\n\(Self.time(start)) --> \(Self.time(end))\n\(uri)#xywh=\(place)\n"
        }
        return text
    }

    /// `01:02:03.004`
    private static func time(_ time: Duration) -> String {
        let (seconds, attoseconds) = time.components
        let clock = "\((seconds / 3600).digits(2)):\((seconds / 60 % 60).digits(2)):\((seconds % 60).digits(2))"
        return "\(clock).\((attoseconds / 1_000_000_000_000_000).digits(3))"
    }

    /// Escapes characters that RFC 3986 does not allow, so that a name cannot break its line.
    private static func escaped(_ uri: String) -> String {
        PercentCoding.encoded(uri) { $0 > 0x20 && $0 < 0x7F && !"\"#<>\\^`{|}".utf8.contains($0) }
    }
}
