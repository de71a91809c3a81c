public import HLSKitCore

extension MovieFile {
    /// Creates a movie from the playlists of a VOD title: its bit-rate ladder and segment sizes.
    ///
    /// The size of a segment comes from `EXT-X-BYTERANGE`, or from `EXT-X-BITRATE` if there is no byte range. Without
    /// either, it follows from the variant's average, which is `AVERAGE-BANDWIDTH` if declared. Otherwise the average
    /// is the mean of the declared sizes, or `BANDWIDTH` without declared sizes. The first variant determines the
    /// segment boundaries. Audio-only variants are omitted if there are others. If several variants have the same
    /// average, only the first of them is used.
    ///
    /// `media` contains the media playlist of each variant, in the same order. `nil` omits a variant.
    ///
    /// - Throws: `HLSError` if there is nothing to simulate, or a playlist is live.
    public init(_ multivariant: MultivariantPlaylist, media: [MediaPlaylist?]) throws(HLSError) {
        var columns: [Column] = []
        let hasVideo = multivariant.variants.contains { $0.resolution != nil }
        for (variant, playlist) in zip(multivariant.variants, media) {
            guard let playlist, !hasVideo || variant.resolution != nil else { continue }
            guard playlist.isComplete else {
                throw HLSError.simulation("\(variant.uri) is live: only VOD can be simulated")
            }
            guard !playlist.segments.isEmpty else { throw HLSError.simulation("\(variant.uri) lists no segment") }
            columns.append(
                Column(
                    playlist, average: variant.averageBandwidth.map(Double.init), peak: Double(variant.bandwidth)))
        }
        try self.init(columns)
    }

    /// Creates a movie with one variant from a media playlist.
    ///
    /// - Throws: `HLSError` if the playlist is live, or declares no sizes with `EXT-X-BYTERANGE` or `EXT-X-BITRATE`.
    public init(_ playlist: MediaPlaylist) throws(HLSError) {
        guard playlist.isComplete else { throw HLSError.simulation("a live playlist: only VOD can be simulated") }
        guard playlist.segments.contains(where: { Column.bits(of: $0) != nil }) else {
            throw HLSError.simulation(
                "the playlist has neither byte ranges nor bit rates; give the multivariant playlist")
        }
        try self.init([Column(playlist, average: nil, peak: 0)])
    }

    private init(_ columns: [Column]) throws(HLSError) {
        guard let first = columns.first else { throw HLSError.simulation("no variant with a playlist") }
        var ladder: [Column] = []
        for column in columns.sorted(by: { $0.average < $1.average }) where column.average != ladder.last?.average {
            ladder.append(column)
        }
        let durations = zip(first.ends, [.zero] + first.ends).map { $0 - $1 }
        let sizes = zip(first.ends, [.zero] + first.ends).map { end, start in
            ladder.map { max(8, $0.bits(until: end) - $0.bits(until: start)) }
        }
        try self.init(
            segmentDurations: durations, averageBitRates: ladder.map(\.average),
            peakBitRates: ladder.map { max($0.peak, $0.average) }, segmentSizes: sizes)
    }

    /// One variant: the bits and time up to the end of each of its segments.
    private struct Column {
        let average: Double
        let peak: Double
        private(set) var ends: [Duration] = []
        private var bits: [Double] = []

        init(_ playlist: MediaPlaylist, average declared: Double?, peak: Double) {
            self.peak = peak
            var declaredBits = 0.0
            var declaredTime = Duration.zero
            for segment in playlist.segments {
                guard let bits = Self.bits(of: segment) else { continue }
                declaredBits += bits
                declaredTime += segment.duration
            }
            let seen = declaredTime > .zero ? declaredBits / declaredTime.milliseconds * 1000 : peak
            average = max(1, declared ?? seen)
            var time = Duration.zero
            var sum = 0.0
            for segment in playlist.segments where segment.duration > .zero {
                time += segment.duration
                sum += Self.bits(of: segment) ?? average * segment.duration.milliseconds / 1000
                ends.append(time)
                bits.append(sum)
            }
        }

        static func bits(of segment: MediaSegment) -> Double? {
            if let range = segment.byteRange { return range.length > 0 ? 8 * Double(range.length) : nil }
            guard let rate = segment.bitRate, rate > 0 else { return nil }
            return Double(rate) * segment.duration.milliseconds / 1000
        }

        /// The bits of the media before `time`. They are assumed to be evenly distributed within a segment.
        func bits(until time: Duration) -> Double {
            guard time > .zero, let last = ends.last, let all = bits.last else { return 0 }
            guard time < last else { return all }
            var low = 0
            var high = ends.count - 1
            while low < high {
                let middle = (low + high) / 2
                if ends[middle] >= time { high = middle } else { low = middle + 1 }
            }
            let start = low > 0 ? ends[low - 1] : .zero
            let before = low > 0 ? bits[low - 1] : 0
            return before + (bits[low] - before) * ((time - start) / (ends[low] - start))
        }
    }
}
