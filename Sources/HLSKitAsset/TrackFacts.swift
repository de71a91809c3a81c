import HLSKitCodec
import HLSKitLoading
package import HLSKitMedia
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime

package struct TrackFacts: Sendable {
    enum Index: Sendable {
        case table(MP4SampleTable.Track)
        /// The samples read so far, and the value to add to their timestamps to get track time.
        case read(SampleExtent, shift: Int64)
        case none
    }

    package var description: MediaTrack
    var index = Index.none
    var timeRange = MediaTimeRange(start: .zero, duration: .indefinite)
    var rendition: Rendition?
    var declaredFrameRate: Double?
    var declaredVideoRange: VideoRange?
    var metadata: [MetadataItem] = []
    var isDecryptable = false

    /// Creates the facts of a track in a media file. Timestamps are unchanged, or start at the first sample if they can
    /// wrap.
    init(_ description: MediaTrack, table: MP4SampleTable.Track) {
        self.description = description
        index = .table(table)
        var (start, end, first) = (Int64.max, Int64(0), true)
        for sample in table.samples {
            start = first ? sample.pts : min(start, sample.pts)
            end = first ? sample.pts + sample.duration : max(end, sample.pts + sample.duration)
            first = false
        }
        guard !first else { return }
        // Media before zero (encoder delay) is not shown.
        start = max(0, start, emptyEdit?.upperBound ?? 0)
        timeRange = MediaTimeRange(start: time(start), end: time(max(start, end)))
    }

    /// - Parameter origin: The time on the track's own scale that is the start of the asset.
    init(_ description: MediaTrack, extent: SampleExtent?, origin: Int64, duration: MediaTime) {
        self.description = description
        guard let extent, extent.count > 0 else {
            timeRange = MediaTimeRange(start: .zero, duration: duration)
            return
        }
        index = .read(extent, shift: -origin)
        let start = max(.zero, time(extent.first - origin))
        timeRange = MediaTimeRange(
            start: start, duration: duration.isNumeric ? max(.zero, duration - start) : duration)
    }

    private func time(_ value: Int64) -> MediaTime { MediaTime(value: value, timescale: description.timescale) }

    // MARK: Numbers

    var naturalSize: PixelSize {
        guard description.mediaType == .video, description.width > 0 else { return .zero }
        return PictureGeometry(description).size()
    }

    var nominalFrameRate: Double? {
        guard description.mediaType == .video else { return nil }
        if let declaredFrameRate { return declaredFrameRate }
        let scale = Double(description.timescale)
        switch index {
        case .table(let table):
            return table.duration > 0 ? Double(table.sampleCount) * scale / Double(table.duration) : nil
        case .read(let extent, _):
            let distance = extent.last - extent.first
            return distance > 0 ? Double(extent.count - 1) * scale / Double(distance) : nil
        case .none: return nil
        }
    }

    var estimatedDataRate: Double? {
        let scale = Double(description.timescale)
        switch index {
        case .table(let table):
            return table.duration > 0 ? Double(totalSampleDataLength ?? 0) * 8 * scale / Double(table.duration) : nil
        case .read(let extent, _):
            let duration = extent.end - extent.first
            return duration > 0 ? Double(extent.byteCount) * 8 * scale / Double(duration) : nil
        case .none: return nil
        }
    }

    var totalSampleDataLength: Int? {
        guard case .table(let table) = index else { return nil }
        return table.samples.reduce(0) { $0 + $1.byteCount }
    }

    var isPlayable: Bool { Self.canPlay(description) && (description.encryption == nil || isDecryptable) }

    static func canPlay(_ track: MediaTrack) -> Bool {
        switch track.mediaType {
        case .video, .audio: CodecRegistry.canDecode(track.codec)
        case .text: track.isReadableText
        case .metadata: track.codec == .id3
        }
    }

    // MARK: Words

    var languageCode: String? {
        description.language ?? extendedLanguageTag?.split(separator: "-").first.map(String.init)
    }

    var extendedLanguageTag: String? { rendition?.language ?? description.language }

    var characteristics: Set<MediaCharacteristic> {
        let label = description.label
        let declared = (rendition?.characteristics ?? []) + label.characteristics
        var result = Set(declared.map(MediaCharacteristic.init(rawValue:)))
        switch description.mediaType {
        case .video: result.formUnion([.visual, .frameBased])
        case .audio: result.insert(.audible)
        case .text: result.insert(.legible)
        case .metadata: break
        }
        if rendition?.isForced == true || label.isForced || description.holdsOnlyForcedText {
            result.insert(.containsOnlyForcedSubtitles)
        }
        guard description.mediaType == .video else { return result }
        // H.273 codes. Primaries: 9 is BT.2020, 11 and 12 are DCI-P3. Transfer: 2 is unspecified, 16 is PQ, 18 is HLG.
        let color = description.declaredColor
        if [9, 11, 12].contains(color?.colorPrimaries) { result.insert(.usesWideGamutColorSpace) }
        switch color?.transferCharacteristics ?? 2 {
        case 16, 18: result.insert(.containsHDRVideo)
        case 2 where declaredVideoRange == .pq || declaredVideoRange == .hlg: result.insert(.containsHDRVideo)
        default: break
        }
        return result
    }

    // MARK: Lookup

    /// The range in which the index has samples, in track time.
    private var knownRange: Range<Int64>? {
        switch index {
        case .table:
            guard let start = units(of: timeRange.start), let end = units(of: timeRange.end), start < end else {
                return nil
            }
            return start..<end
        case .read(let extent, let shift):
            let start = extent.first + shift
            return start < extent.end + shift ? start..<extent.end + shift : nil
        case .none: return nil
        }
    }

    private var emptyEdit: Range<Int64>? {
        guard case .table = index, let start = description.shownRange?.lowerBound, start > 0 else { return nil }
        return 0..<start
    }

    private func units(of time: MediaTime) -> Int64? {
        let converted = time.converted(to: description.timescale, rounding: .towardNegativeInfinity)
        return converted.isNumeric && converted.timescale == description.timescale ? converted.value : nil
    }

    func segment(at time: MediaTime) -> AssetTrackSegment? {
        guard let range = knownRange, let value = units(of: time) else { return nil }
        if let delay = emptyEdit, delay.contains(value) {
            let target = MediaTimeRange(start: self.time(delay.lowerBound), end: self.time(delay.upperBound))
            return AssetTrackSegment(timeMapping: MediaTimeMapping(source: .invalid, target: target), isEmpty: true)
        }
        guard range.contains(value) else { return nil }
        let target = MediaTimeRange(start: self.time(range.lowerBound), end: self.time(range.upperBound))
        var source = target
        switch index {
        case .table(let table): source.start = self.time(range.lowerBound - table.editShift)
        case .read(_, let shift): source.start = self.time(range.lowerBound - shift)
        case .none: break
        }
        return AssetTrackSegment(timeMapping: MediaTimeMapping(source: source, target: target), isEmpty: false)
    }

    func samplePresentationTime(at time: MediaTime) -> MediaTime? {
        guard let range = knownRange, let value = units(of: time), range.contains(value) else { return nil }
        var best: Int64?
        func consider(_ pts: Int64) {
            if pts <= value, pts > best ?? .min { best = pts }
        }
        switch index {
        case .table(let table): for sample in table.samples { consider(sample.pts) }
        case .read(let extent, let shift): for sample in extent.times { consider(sample.pts + shift) }
        case .none: break
        }
        return best.map(self.time)
    }
}
