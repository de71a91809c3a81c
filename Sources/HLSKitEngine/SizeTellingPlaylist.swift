import HLSKitLoading
import HLSKitPlaylist

/// A media playlist that tells how large its segments are, laid on the item's timeline.
struct SizeTellingPlaylist: Sendable {
    private let playlist: MediaPlaylist
    /// Where each segment starts, and where the last one ends.
    private let starts: [Duration]

    /// nil for a playlist that does not tell.
    init?(_ playlist: MediaPlaylist, starts: [Duration]) {
        // Playlists tell it of all segments or of none, mostly; a long one is not read through to find out.
        let samples = [0, playlist.segments.count / 2, playlist.segments.count - 1]
        guard starts.count == playlist.segments.count + 1,
            samples.contains(where: { index in
                playlist.segments.indices.contains(index) && Self.byteCount(of: playlist.segments[index]) != nil
            })
        else { return nil }
        self.playlist = playlist
        self.starts = starts
    }

    /// Bytes of the media in `range`; nil where the playlist does not tell.
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
        // Variants need not be cut alike.
        let length = (starts[low + 1] - starts[low]).seconds
        let wanted = (range.upperBound - range.lowerBound).seconds
        guard length > 0, abs(wanted - length) > 0.01 * length else { return count }
        return Int(min(Double(count) * wanted / length, 1e15))
    }

    /// `EXT-X-BYTERANGE` tells it exactly, `EXT-X-BITRATE` to a tenth (rfc8216bis §4.4.4.8).
    static func byteCount(of segment: MediaSegment) -> Int? {
        if let range = segment.byteRange { return range.length > 0 ? Int(clamping: range.length) : nil }
        guard let bitRate = segment.bitRate, bitRate > 0 else { return nil }
        return Int(min(Double(bitRate) * segment.duration.seconds / 8, 1e15))
    }
}
