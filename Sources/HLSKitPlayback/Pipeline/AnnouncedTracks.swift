import HLSKitCodec
import HLSKitEngine
import HLSKitMedia
import HLSKitPlaylist

/// The tracks of a lane that outputs were told of: knows when they have to be told again.
struct AnnouncedTracks: Sendable {
    private var current: [MediaKind: MediaTrack] = [:]
    /// What is added to their timestamps.
    private var offsets: [MediaKind: Duration] = [:]

    /// Nothing was ever announced.
    var isEmpty: Bool { current.isEmpty }

    /// A sample of a track comes. nil where samples of it may follow those before.
    ///
    /// - Parameter isFirst: the segment has given no sample of this kind before.
    mutating func take(
        _ track: MediaTrack, of job: SegmentJob, offset: Duration, isFirst: Bool
    ) -> (track: MediaTrack, isNewSequence: Bool)? {
        var track = track
        if track.mediaType == .video { track.complete(with: job.videoRange) }
        let type = track.mediaType
        // What is still in a decoder belongs to the time before.
        let isMoved = offsets[type].map { $0 != offset } ?? false
        offsets[type] = offset
        let isNewSequence = (job.startsNewSequence || isMoved) && isFirst
        if !isNewSequence, let known = current[type], track.continues(known) { return nil }
        current[type] = track
        return (track, isNewSequence)
    }

    /// What is loaded is forgotten: times may be placed elsewhere.
    mutating func flush() { offsets = [:] }
}

extension MediaTrack {
    /// Samples of this track may go into the decoder that was opened for `other`. What a stream tells of itself in
    /// passing (its size, where a segment repeats its parameter sets) needs no other decoder, but for the first time: nothing
    /// before it could be decoded.
    fileprivate func continues(_ other: MediaTrack) -> Bool {
        if other.mediaType == .video, other.width == 0, width > 0 { return false }
        return codec == other.codec && timescale == other.timescale && configuration == other.configuration
            && sampleEntry == other.sampleEntry && encryption == other.encryption
    }
}

extension MediaTrack {
    /// What neither stream nor container tell of the colour, the playlist may: BT.2020 with a high dynamic range.
    /// What the stream itself says counts more, and is known to its decoder.
    fileprivate mutating func complete(with range: VideoRange?) {
        let transfer: TransferFunction
        switch range {
        case .pq: transfer = .pq
        case .hlg: transfer = .hlg
        default: return
        }
        var color =
            colorInformation ?? ColorInformation(colorPrimaries: 2, transferCharacteristics: 2, matrixCoefficients: 2)
        if color.colorPrimaries == 2 { color.colorPrimaries = ColorPrimaries.bt2020.rawValue }
        if color.transferCharacteristics == 2 { color.transferCharacteristics = transfer.rawValue }
        if color.matrixCoefficients == 2 { color.matrixCoefficients = YCbCrMatrix.bt2020NonConstantLuminance.rawValue }
        colorInformation = color
    }
}
