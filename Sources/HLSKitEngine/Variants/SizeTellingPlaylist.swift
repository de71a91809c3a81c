import HLSKitLoading
import HLSKitPlaylist

/// A media playlist that declares the size of its segments, placed on the item's timeline.
struct SizeTellingPlaylist: Sendable {
    private let playlist: MediaPlaylist
    /// The start of each segment, and the end of the last one.
    private let starts: [Duration]

    /// Creates the playlist, or returns `nil` if it does not declare sizes.
    init?(_ playlist: MediaPlaylist, starts: [Duration]) {
        // Most playlists declare the sizes of all segments or of none. Samples avoid reading a long playlist.
        let samples = [0, playlist.segments.count / 2, playlist.segments.count - 1]
        guard starts.count == playlist.segments.count + 1,
            samples.contains(where: { index in
                playlist.segments.indices.contains(index) && Self.byteCount(of: playlist.segments[index]) != nil
            })
        else { return nil }
        self.playlist = playlist
        self.starts = starts
    }

    /// The size in bytes of the media in `range`, or `nil` if it is undeclared.
    func byteCount(in range: Range<Duration>) -> Int? {
        let middle = range.lowerBound + (range.upperBound - range.lowerBound) / 2
        guard let first = starts.first, let last = starts.last, middle >= first, middle < last else { return nil }
        var low = 0
        var high = starts.count - 1
        while high - low > 1 {
            let middleIndex = (low + high) / 2
            if starts[middleIndex] <= middle { low = middleIndex } else { high = middleIndex }
        }
        guard playlist.segments.indices.contains(low), let count = Self.byteCount(of: playlist.segments[low]) else {
            return nil
        }
        // Variants may have different segment boundaries.
        let length = (starts[low + 1] - starts[low]).seconds
        let wanted = (range.upperBound - range.lowerBound).seconds
        guard length > 0, abs(wanted - length) > 0.01 * length else { return count }
        return Int(min(Double(count) * wanted / length, 1e15))
    }

    /// The declared size: exact with `EXT-X-BYTERANGE`, within a tenth with `EXT-X-BITRATE` (rfc8216bis §4.4.4.8).
    static func byteCount(of segment: MediaSegment) -> Int? {
        if let range = segment.byteRange { return range.length > 0 ? Int(clamping: range.length) : nil }
        guard let bitRate = segment.bitRate, bitRate > 0 else { return nil }
        return Int(min(Double(bitRate) * segment.duration.seconds / 8, 1e15))
    }
}
