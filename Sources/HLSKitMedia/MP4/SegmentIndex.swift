/// The index of a segment or of a whole file (`sidx`): the positions and durations of its subsegments. Times are in
/// units of ``timescale``.
///
/// Source: ISO/IEC 14496-12 §8.16.3.
package struct SegmentIndex: Sendable, Hashable {
    package struct Reference: Sendable, Hashable {
        package var isIndex: Bool
        package var byteCount: Int
        package var duration: UInt32
        package var startsWithSAP: Bool
        /// 0 (unknown) to 6. 1 and 2 are sync samples.
        package var sapType: Int
        /// The time from the earliest presentation time to the access point.
        package var sapDeltaTime: UInt32
    }

    /// The `track_ID` of the track to which the times refer.
    package var referenceID: Int
    /// Units per second, above 0.
    package var timescale: UInt32
    package var earliestPresentationTime: UInt64
    /// The offset of the first subsegment from the start of the segment that contains the index.
    package var firstByteOffset: Int
    /// The references in the order of the box. Their bytes are contiguous.
    package var references: [Reference]
}

extension SegmentIndex {
    /// The end of the last subsegment, or nil beyond 2^63.
    package var endOffset: Int? {
        var end = firstByteOffset
        for reference in references {
            let (sum, overflow) = end.addingReportingOverflow(reference.byteCount)
            guard !overflow else { return nil }
            end = sum
        }
        return end
    }

    private static let fragmentTypes: Set<FourCharacterCode> = [
        "styp", "sidx", "ssix", "emsg", "prft", "moof", "mdat", "imda",
    ]

    /// Whether media follows that this index does not cover, as with an index for each fragment.
    ///
    /// - Parameter bytes: The bytes at ``endOffset``, at least 8.
    package func isFollowedByMedia(_ bytes: [UInt8]) -> Bool {
        var reader = BoxReader(bytes[...], offset: 0)
        guard (try? reader.readUInt32()) != nil, let type = try? reader.readCode() else { return false }
        return Self.fragmentTypes.contains(type)
    }

    /// - Parameter box: The whole box. Offsets count from its end.
    init(parsing box: Box) throws(MediaError) {
        var reader = box.payload
        let version = try reader.readVersionAndFlags().version
        referenceID = Int(try reader.readUInt32())
        timescale = try reader.readUInt32()
        guard timescale > 0 else { throw reader.malformed("'sidx' with a timescale of 0") }
        earliestPresentationTime = try reader.readUInt(is64Bit: version > 0)
        guard let distance = Int(exactly: try reader.readUInt(is64Bit: version > 0)) else {
            throw reader.malformed("'sidx' with a first offset beyond 2^63")
        }
        let (offset, overflow) = box.endOffset.addingReportingOverflow(distance)
        guard !overflow else { throw reader.malformed("'sidx' with a first offset beyond 2^63") }
        firstByteOffset = offset
        try reader.skip(2)
        let count = Int(try reader.readUInt16())
        guard count * 12 <= reader.remaining else { throw reader.malformed("\(count) references are missing") }
        references = []
        references.reserveCapacity(count)
        for _ in 0..<count {
            let size = try reader.readUInt32()
            let duration = try reader.readUInt32()
            let accessPoint = try reader.readUInt32()
            references.append(
                Reference(
                    isIndex: size >> 31 != 0, byteCount: Int(size & 0x7FFF_FFFF), duration: duration,
                    startsWithSAP: accessPoint >> 31 != 0, sapType: Int(accessPoint >> 28 & 7),
                    sapDeltaTime: accessPoint & 0x0FFF_FFFF))
        }
    }
}
