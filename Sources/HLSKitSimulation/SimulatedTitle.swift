import HLSKitCore
import HLSKitPlaylist

/// A movie as a title that an engine can open: generated playlists, and the meaning of its URLs.
struct SimulatedTitle: Sendable {
    static let multivariantURL = "https://simulation.invalid/index.m3u8"

    let movie: MovieFile
    /// The movie's variants by their position in the multivariant playlist.
    let variants: [Int]

    init(movie: MovieFile, pinnedVariant: Int?) {
        self.movie = movie
        variants = pinnedVariant.map { [$0] } ?? Array(0..<movie.variantCount)
    }

    func playlist(_ url: String) -> Playlist? {
        if url == Self.multivariantURL { return .multivariant(multivariant) }
        let names = url.split(separator: "/")
        guard names.last == "index.m3u8", names.count > 1, let variant = Int(names[names.count - 2]) else { return nil }
        return variants.contains(variant) ? .media(media) : nil
    }

    func segment(_ url: String) -> (segment: Int, variant: Int)? {
        // Parse from the end, where the numbers are.
        var bytes = url.utf8[...]
        guard let segment = Self.takeNumber(&bytes), bytes.popLast() == UInt8(ascii: "/"),
            let variant = Self.takeNumber(&bytes), variants.contains(variant),
            (0..<movie.segmentCount).contains(segment)
        else { return nil }
        return (segment, variant)
    }

    private static func takeNumber(_ bytes: inout Substring.UTF8View) -> Int? {
        var number = 0
        var factor = 1
        while let byte = bytes.last, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte), factor < 1_000_000_000 {
            number += Int(byte - UInt8(ascii: "0")) * factor
            factor *= 10
            bytes.removeLast()
        }
        return factor > 1 ? number : nil
    }

    private var multivariant: MultivariantPlaylist {
        var playlist = MultivariantPlaylist(url: Self.multivariantURL)
        playlist.variants = variants.map { variant in
            VariantStream(
                uri: "\(variant)/index.m3u8", bandwidth: Int(movie.peakBitRates[variant].rounded()),
                averageBandwidth: Int(movie.averageBitRates[variant].rounded()))
        }
        return playlist
    }

    private var media: MediaPlaylist {
        let segments = (0..<movie.segmentCount).map { index in
            MediaSegment(uri: String(index), duration: movie.duration(ofSegment: index))
        }
        var playlist = MediaPlaylist(targetDuration: movie.segmentDuration, segments: MediaSegments(segments))
        playlist.hasEndList = true
        return playlist
    }
}

/// Provides a rule with the sizes of the next segments, like a playlist with byte ranges for every segment.
struct SizeAwareSelector: VariantSelector {
    var rule: any VariantSelector
    let movie: MovieFile
    let variants: [Int]

    mutating func decide(_ input: SelectionInput) -> SelectionDecision {
        guard let first = input.segmentNumber else { return rule.decide(input) }
        var input = input
        for position in input.upcoming.indices where first + position < movie.segmentCount {
            input.upcoming[position].byteCounts = input.candidates.map { candidate in
                let bits = movie.bitCount(ofSegment: first + position, variant: variants[candidate.index])
                return Int((bits / 8).rounded(.up))
            }
        }
        return rule.decide(input)
    }
}
