/// Divides an Annex B byte stream of H.264 or HEVC into access units and reports their contents.
///
/// The first slice (segment) identifies a new picture. Arbitrary slice order, which no streaming format uses, would be
/// divided incorrectly.
///
/// Source: ISO/IEC 14496-10 §7.4.1.2.3 and §7.4.1.2.4, ISO/IEC 23008-2 §7.4.2.4.4.
struct VideoUnitScanner {
    struct Unit {
        var start = 0
        var end = 0
        var firstNALUnit: Int?
        var hasFrame = false
        /// Whether its NAL units declare that decoding can start here.
        var isSync = false
        /// Whether all slices so far are I or SI slices, and there is a sequence parameter set (H.264 only).
        var isIntra: Bool { hasParameterSet && !hasOtherSlices && hasFrame }
        var hasParameterSet = false
        var hasOtherSlices = false
        var beginsWithinPicture = false
        /// The last sequence parameter set, from its header byte.
        var parameterSet: Range<Int>?
        /// The field, from the first slice, if the picture is one field of a frame (H.264 only).
        var field: Field?
        var order: PictureOrder?
        var holdsTwoFields = false

        /// Moves all offsets because `count` bytes in front have been removed.
        mutating func removeBytes(_ count: Int) {
            start = max(0, start - count)
            end = max(0, end - count)
            firstNALUnit = firstNALUnit.map { max(0, $0 - count) }
            parameterSet = parameterSet.map { max(0, $0.lowerBound - count)..<max(0, $0.upperBound - count) }
        }

        func isFirstField(before next: Unit) -> Bool {
            guard let field, let other = next.field else { return false }
            return field.isBottom != other.isBottom && field.frameNumber == other.frameNumber
        }
    }

    struct Field {
        var isBottom: Bool
        var frameNumber: Int
    }

    let isHEVC: Bool
    private var unit = Unit()
    private var position = 0
    /// The NAL unit whose end has not been seen: its header byte and type.
    private var open: (header: Int, type: Int)?
    private var orders = PictureOrderReader()
    /// The position of a NAL unit that begins an access unit if the next slice is the first of its picture.
    private var tentative: Int?

    /// The number of bytes, from the header byte, that suffice to identify a NAL unit.
    private static let headByteCount = 8

    private enum Kind { case starter, maybeStarter, firstSlice, slice, other }

    init(isHEVC: Bool) { self.isHEVC = isHEVC }

    /// Drops all bytes but keeps the parameter sets.
    mutating func restart() {
        let orders = orders
        self = VideoUnitScanner(isHEVC: isHEVC)
        self.orders = orders
    }

    /// Continues reading and returns the complete access units.
    ///
    /// - Parameter isEnd: Whether the last access unit ends with the bytes if it has a picture.
    mutating func scan(_ bytes: UnsafeRawBufferPointer, isEnd: Bool) -> [Unit] {
        var whole: [Unit] = []
        while true {
            let code = NALUnits.startCode(in: bytes, from: position)
            guard let code, code + 3 + (isEnd ? 1 : Self.headByteCount) <= bytes.count else {
                // A start code may have begun in the last two bytes.
                position = max(position, code ?? bytes.count - 2)
                break
            }
            let start = code > unit.start && bytes[code - 1] == 0 ? code - 1 : code
            closeNALUnit(at: start, in: bytes)
            let header = code + 3
            let kind = kind(of: header, in: bytes)
            if let boundary = boundary(before: kind, at: start) {
                unit.end = boundary
                whole.append(unit)
                unit = Unit(start: boundary)
                if boundary < start { unit.firstNALUnit = boundary }
            }
            take(kind, from: start, header: header, in: bytes)
            position = header
        }
        if isEnd {
            position = bytes.count
            closeNALUnit(at: bytes.count, in: bytes)
            if unit.hasFrame {
                unit.end = bytes.count
                whole.append(unit)
                unit = Unit(start: bytes.count)
            }
        }
        return whole
    }

    mutating func removeBytes(_ count: Int) {
        position = max(0, position - count)
        unit.removeBytes(count)
        open = open.map { (max(0, $0.header - count), $0.type) }
        tentative = tentative.map { max(0, $0 - count) }
    }

    private mutating func boundary(before kind: Kind, at start: Int) -> Int? {
        guard unit.hasFrame else { return nil }
        switch kind {
        case .starter: return start
        case .firstSlice: return tentative ?? start
        case .maybeStarter:
            if tentative == nil { tentative = start }
            return nil
        case .slice:
            tentative = nil
            return nil
        case .other: return nil
        }
    }

    private mutating func take(_ kind: Kind, from start: Int, header: Int, in bytes: UnsafeRawBufferPointer) {
        let type = isHEVC ? Int(bytes[header] >> 1 & 0x3f) : Int(bytes[header] & 0x1f)
        open = (header, type)
        if unit.firstNALUnit == nil {
            unit.firstNALUnit = start
            unit.beginsWithinPicture = kind == .slice
        }
        guard kind == .firstSlice || kind == .slice else { return }
        tentative = nil
        unit.hasFrame = true
        if isHEVC {
            if (16...23).contains(type) { unit.isSync = true }  // BLA, IDR, CRA
            guard kind == .firstSlice else { return }
            var reader = BitReader(NALUnits.rawPayload(of: head(of: header, in: bytes).dropFirst(2)))
            unit.order = orders.hevcOrder(&reader, type: type)
        } else {
            if type == 5 { unit.isSync = true }
            var reader = BitReader(NALUnits.rawPayload(of: head(of: header, in: bytes).dropFirst()))
            _ = reader.unsignedExpGolomb()
            let sliceType = reader.unsignedExpGolomb() % 5
            if reader.isExhausted || (sliceType != 2 && sliceType != 4) { unit.hasOtherSlices = true }
            if kind == .firstSlice { (unit.field, unit.order) = orders.h264Picture(&reader, isIDR: type == 5) }
        }
    }

    private func head(of header: Int, in bytes: UnsafeRawBufferPointer) -> Slice<UnsafeRawBufferPointer> {
        bytes[min(header, bytes.count)..<min(header + Self.headByteCount, bytes.count)]
    }

    private func kind(of header: Int, in bytes: UnsafeRawBufferPointer) -> Kind {
        func isFirst(_ offset: Int) -> Bool { offset >= bytes.count || bytes[offset] & 0x80 != 0 }
        if isHEVC {
            let layer = header + 1 < bytes.count ? Int(bytes[header] & 1) << 5 | Int(bytes[header + 1] >> 3) : 0
            guard layer == 0 else { return .other }
            switch bytes[header] >> 1 & 0x3f {
            // first_slice_segment_in_pic_flag
            case 0...31: return isFirst(header + 2) ? .firstSlice : .slice
            // Parameter sets, delimiter, prefix SEI, reserved.
            case 32...35, 39, 41...44, 48...55: return .starter
            default: return .other
            }
        }
        switch bytes[header] & 0x1f {
        // A first_mb_in_slice of 0 is one bit.
        case 1, 2, 5: return isFirst(header + 1) ? .firstSlice : .slice
        // SEI, parameter sets, delimiter, reserved.
        case 6...9, 15...18: return .starter
        // Precedes each slice of scalable video, whether it is the first of its picture or not.
        case 14: return .maybeStarter
        default: return .other
        }
    }

    /// Reads NAL units that must be complete.
    private mutating func closeNALUnit(at end: Int, in bytes: UnsafeRawBufferPointer) {
        guard let (header, type) = open, header < end, end <= bytes.count else { return }
        open = nil
        if type == (isHEVC ? 33 : 7) {
            unit.hasParameterSet = true
            unit.parameterSet = header..<end
            if isHEVC {
                orders.takeHEVCSequence(bytes[header..<end])
            } else {
                orders.takeH264Sequence(bytes[header..<end])
            }
        } else if type == 34 && isHEVC {
            orders.takeHEVCPictureSet(bytes[header..<end])
        } else if type == 6 && !isHEVC && !unit.isSync && !unit.hasFrame {
            // Recovery point: payload 6. Caption data can be long, but the relevant messages come first.
            let payload = NALUnits.rawPayload(of: bytes[(header + 1)..<min(end, header + 4096)])
            if NALUnits.messageTypes(inSEI: payload[...]).contains(6) { unit.isSync = true }
        }
    }
}
