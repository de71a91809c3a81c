/// The positions and times of all samples in a whole (not fragmented) MP4 file.
///
/// It keeps the tables in their file format, so a movie of a million samples takes no more memory than its `moov` box.
package struct MP4SampleTable: Sendable {
    /// One sample of a track, or up to 1024 consecutive frames of PCM, for which a file may have a sample each. Times
    /// are in units of the track's timescale.
    package struct Sample: Sendable, Hashable {
        package var offset: Int
        package var byteCount: Int
        /// Shifted by the edit list as described at ``MP4InitializationSection/tracks``.
        package var pts: Int64
        package var dts: Int64
        package var duration: Int64
        package var isSync: Bool
        var descriptionIndex: Int
    }

    /// The samples of a track in decoding order, created one by one. A pass takes time proportional to their number and
    /// no memory. It ends early if the tables contradict each other.
    package struct Samples: Sequence, Sendable {
        let boxes: SampleTableBoxes
        let shift: Int64
        var decodingShift: Int64 = 0

        package func makeIterator() -> Iterator { Iterator(boxes: boxes, shift: shift, decodingShift: decodingShift) }
    }

    package struct Track: Sendable {
        package let track: MediaTrack
        package let sampleCount: Int
        /// The duration of all samples together, in units of the track's timescale.
        package let duration: Int64
        package let samples: Samples
        let trackIndex: Int
        /// The value that the edit list adds to media times, in units of the track's timescale.
        package var editShift: Int64 { samples.shift }
        var stepCount: Int { samples.boxes.stepCount }
    }

    /// The tracks with samples in the tables. Empty for a fragmented file.
    package let tracks: [Track]

    package init(_ header: MP4InitializationSection) {
        tracks = header.movieTracks.enumerated().compactMap { index, track in
            guard let boxes = track.tables else { return nil }
            return Track(
                track: track.descriptions[0], sampleCount: boxes.sampleCount, duration: boxes.duration,
                samples: Samples(
                    boxes: boxes, shift: track.editShift,
                    decodingShift: DecodingShift.needed(
                        forOffset: boxes.leastCompositionOffset, timescale: track.descriptions[0].timescale)),
                trackIndex: index)
        }
    }
}

extension MP4SampleTable.Samples {
    package struct Iterator: IteratorProtocol, Sendable {
        private let boxes: SampleTableBoxes
        private let decodingShift: Int64
        private var number = 0
        private var dts: Int64
        private var durations: RunLengthTable
        private var compositionOffsets: RunLengthTable
        private var syncIndex: Int
        private var chunkRunIndex: Int
        /// The number of the chunk, from 1 as in the tables, or 0 before the first.
        private var chunk = 0
        private var samplesPerChunk = 0
        private var leftInChunk = 0
        private var descriptionIndex = 0
        private var offset = 0

        init(boxes: SampleTableBoxes, shift: Int64, decodingShift: Int64) {
            self.boxes = boxes
            self.decodingShift = decodingShift
            dts = shift
            durations = RunLengthTable(boxes.durations)
            compositionOffsets = RunLengthTable(boxes.compositionOffsets)
            syncIndex = boxes.syncSamples?.startIndex ?? 0
            chunkRunIndex = boxes.chunkRuns.startIndex
        }

        package mutating func next() -> MP4SampleTable.Sample? {
            guard number < boxes.sampleCount else { return nil }
            if leftInChunk == 0 {
                guard enterNextChunk() else { return nil }
            }
            if let frameByteCount = boxes.pcmFrameByteCount(ofDescription: descriptionIndex) {
                return nextOfPCM(frameByteCount)
            }
            leftInChunk -= 1
            number += 1
            let size = size(ofSample: number - 1)
            let duration = Int64(durations.next() ?? 0)
            let compositionOffset = Int64(Int32(bitPattern: compositionOffsets.next() ?? 0))
            let sample = MP4SampleTable.Sample(
                offset: offset, byteCount: size, pts: dts + compositionOffset, dts: dts - decodingShift,
                duration: duration,
                isSync: isSync(), descriptionIndex: descriptionIndex)
            let (end, overflow) = offset.addingReportingOverflow(size)
            guard !overflow else { return nil }
            offset = end
            dts += duration  // no more than all durations, which have been added up before
            return sample
        }

        private mutating func nextOfPCM(_ frameByteCount: Int) -> MP4SampleTable.Sample? {
            var count = Swift.min(leftInChunk, boxes.sampleCount - number)
            // PCM is never reordered. If there are offsets, samples are not combined.
            if !boxes.compositionOffsets.isEmpty { count = 1 }
            count = durations.countOfEqual(upTo: count)
            let byteCount: Int
            if let size = boxes.constantSize(ofFrame: frameByteCount) {
                count = Swift.min(count, SampleTableBoxes.pcmCount(size: size, frameByteCount: frameByteCount))
                byteCount = count * size
            } else {
                (count, byteCount) = sizes(upTo: count, frameByteCount: frameByteCount)
            }
            let duration = Int64(durations.take(count) ?? 0) * Int64(count)
            let compositionOffset = Int64(Int32(bitPattern: compositionOffsets.next() ?? 0))
            let sample = MP4SampleTable.Sample(
                offset: offset, byteCount: byteCount, pts: dts + compositionOffset, dts: dts - decodingShift,
                duration: duration, isSync: true, descriptionIndex: descriptionIndex)
            let (end, overflow) = offset.addingReportingOverflow(byteCount)
            guard !overflow else { return nil }
            leftInChunk -= count
            number += count
            offset = end
            dts += duration  // no more than all durations
            return sample
        }

        private func sizes(upTo limit: Int, frameByteCount: Int) -> (count: Int, byteCount: Int) {
            let maximum = PCMDescription.maximumFrameCount * frameByteCount
            var (count, byteCount) = (1, size(ofSample: number))
            while count < limit {
                let size = size(ofSample: number + count)
                guard byteCount + size <= maximum else { break }
                byteCount += size
                count += 1
            }
            return (count, byteCount)
        }

        private mutating func enterNextChunk() -> Bool {
            repeat {
                chunk += 1
                let runs = boxes.chunkRuns
                while chunkRunIndex < runs.endIndex, Int(runs.bigEndianUInt32(at: chunkRunIndex)) <= chunk {
                    samplesPerChunk = Int(runs.bigEndianUInt32(at: chunkRunIndex + 4))
                    descriptionIndex = Swift.max(Int(runs.bigEndianUInt32(at: chunkRunIndex + 8)) - 1, 0)
                    chunkRunIndex += 12
                }
                let index = boxes.chunkOffsets.startIndex + (chunk - 1) * boxes.chunkOffsetSize
                guard index < boxes.chunkOffsets.endIndex else { return false }
                var value = UInt64(boxes.chunkOffsets.bigEndianUInt32(at: index))
                if boxes.chunkOffsetSize == 8 {
                    value = value << 32 | UInt64(boxes.chunkOffsets.bigEndianUInt32(at: index + 4))
                }
                guard let position = Int(exactly: value) else { return false }
                offset = position
                leftInChunk = samplesPerChunk
            } while leftInChunk == 0
            return true
        }

        private func size(ofSample index: Int) -> Int {
            switch boxes.sizes {
            case .constant(let size): return size
            case .table(let bytes, let bits):
                let place = bytes.startIndex + index * bits / 8
                switch bits {
                case 32: return Int(bytes.bigEndianUInt32(at: place))
                case 16: return Int(bytes[place]) << 8 | Int(bytes[place + 1])
                case 8: return Int(bytes[place])
                default: return Int(index.isMultiple(of: 2) ? bytes[place] >> 4 : bytes[place] & 15)
                }
            }
        }

        private mutating func isSync() -> Bool {
            guard let table = boxes.syncSamples else { return true }
            while syncIndex < table.endIndex {
                let syncNumber = Int(table.bigEndianUInt32(at: syncIndex))
                if syncNumber > number { return false }
                syncIndex += 4
                if syncNumber == number { return true }
            }
            return false
        }
    }

    /// Pairs of a count and a value. It returns nil past its end.
    private struct RunLengthTable {
        let entries: ArraySlice<UInt8>
        var index: Int
        var left: UInt32 = 0
        var value: UInt32 = 0

        init(_ entries: ArraySlice<UInt8>) {
            self.entries = entries
            index = entries.startIndex
        }

        mutating func next() -> UInt32? { take(1) }

        /// Counts the samples, among the next `limit`, that have the same value. Past the table's end, all of them do.
        mutating func countOfEqual(upTo limit: Int) -> Int { load() ? Swift.min(limit, Int(left)) : limit }

        /// Returns the value of the next `count` entries, which are equal.
        mutating func take(_ count: Int) -> UInt32? {
            guard load() else { return nil }
            left -= UInt32(Swift.min(count, Int(left)))
            return value
        }

        private mutating func load() -> Bool {
            while left == 0 {
                guard index < entries.endIndex else { return false }
                left = entries.bigEndianUInt32(at: index)
                value = entries.bigEndianUInt32(at: index + 4)
                index += 8
            }
            return true
        }
    }
}
