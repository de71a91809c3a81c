public import HLSKitTime

/// A section of splice information, which marks the start or end of an insertion such as advertising.
///
/// Transport streams, event messages and `EXT-X-DATERANGE` contain the same bytes.
///
/// Source: ANSI/SCTE 35 2023r1, §9 (splice_info_section) and §10.3.3 (segmentation_descriptor).
public struct SpliceInformation: Sendable, Hashable {
    /// The purpose of a section of splice information.
    ///
    /// The set is open.
    public struct CommandType: RawRepresentable, Sendable, Hashable {
        public let rawValue: UInt8
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// `splice_null`: no command.
        ///
        /// The descriptors may contain information.
        public static let null = CommandType(rawValue: 0)
        /// `splice_schedule`: events at a time of day, which are not parsed.
        public static let schedule = CommandType(rawValue: 4)
        /// `splice_insert`: see ``SpliceInformation/insert``.
        public static let insert = CommandType(rawValue: 5)
        /// `time_signal`: the time to which the descriptors apply.
        public static let timeSignal = CommandType(rawValue: 6)
        /// `bandwidth_reservation`: no command.
        public static let bandwidthReservation = CommandType(rawValue: 7)
        /// `private_command`.
        public static let privateCommand = CommandType(rawValue: 255)
    }

    /// A `splice_insert`.
    public struct Insert: Sendable, Hashable {
        /// The identifier of the event (`splice_event_id`).
        ///
        /// Sections with the same identifier describe the same event.
        public var eventID: UInt32
        /// A Boolean value that indicates whether the announced event is cancelled.
        ///
        /// In that case, no other properties are known.
        public var isCancelled = false
        /// A Boolean value that indicates whether a break begins rather than ends (`out_of_network_indicator`).
        public var isOutOfNetwork = false
        /// A Boolean value that indicates whether the splice is immediate.
        ///
        /// In that case there is no ``SpliceInformation/spliceTime``.
        public var isImmediate = false
        /// The duration of the break, or `nil` if unknown.
        public var breakDuration: MediaTime?
        /// A Boolean value that indicates whether the break ends after ``breakDuration`` without another section.
        public var returnsAutomatically = false
        /// `unique_program_id`.
        public var programID = 0
        /// The number of the avail (`avail_num`), from 1, or 0 if unused.
        public var availNumber = 0
        /// The expected number of avails (`avails_expected`), or 0 if unused.
        public var availCount = 0
    }

    /// The bytes of the whole section, as received.
    public let bytes: [UInt8]
    /// A Boolean value that indicates whether the checksum at the end is correct.
    ///
    /// In playlists, some writers omit it or write a wrong one.
    public let hasValidChecksum: Bool
    /// The purpose of the section, or `nil` if it is encrypted.
    public private(set) var commandType: CommandType?
    /// The splice time, including its adjustment, or `nil` if there is none.
    ///
    /// It is on the 33-bit clock of the media for which the section was created (1/90 000 s).
    public private(set) var spliceTime: MediaTime?
    /// The `splice_insert` command, or `nil` for other commands.
    public private(set) var insert: Insert?
    /// The segmentation descriptors, in order.
    public private(set) var segmentations: [SpliceSegmentation] = []

    private static let headerByteCount = 14
    private static let clockMask = 0x1_ffff_ffff

    /// Reads a section.
    ///
    /// - Throws: ``MediaError``: `malformed` if the bytes are not a valid section, `truncated` if they end early, or
    ///   `unsupported` if its `protocol_version` is not 0.
    public init(parsing section: [UInt8]) throws(MediaError) {
        guard section.first == 0xfc else {
            throw MediaError(code: .malformed, byteOffset: 0, text: "no splice information")
        }
        guard section.count >= 3 else { throw Self.truncated(section.count) }
        let end = 3 + (Int(section[1] & 0x0f) << 8 | Int(section[2]))
        guard end <= section.count else { throw Self.truncated(section.count) }
        // The length of the descriptors and the checksum follow the header.
        guard end >= Self.headerByteCount + 6 else {
            throw MediaError(code: .malformed, byteOffset: 1, text: "splice information of \(end) bytes")
        }
        bytes = Array(section[..<end])
        hasValidChecksum = SectionAssembler.checksum(bytes) == 0
        guard bytes[3] == 0 else {
            throw MediaError(code: .unsupported, byteOffset: 3, text: "splice information of version \(bytes[3])")
        }
        var header = BitReader(Array(bytes[4..<Self.headerByteCount]))
        let isEncrypted = header.flag()
        header.skip(6)
        let adjustment = header.wideBits(33)
        header.skip(8 + 12)
        let length = header.bits(12)
        guard !isEncrypted else { return }
        let command = CommandType(rawValue: bytes[Self.headerByteCount - 1])
        commandType = command
        let next = try readCommand(command, length: length, adjustment: adjustment)
        try readDescriptors(from: next)
    }

    private static func truncated(_ count: Int) -> MediaError {
        MediaError(code: .truncated, byteOffset: count, text: "splice information ends early")
    }

    // MARK: Commands

    /// - Returns: The offset of the descriptors.
    private mutating func readCommand(
        _ type: CommandType, length: Int, adjustment: Int
    ) throws(MediaError) -> Int {
        let start = Self.headerByteCount
        let limit = bytes.count - 6
        // Writers before 2004 set all bits because there was no length.
        let isUnknown = length == 0xfff
        guard isUnknown || start + length <= limit else {
            throw MediaError(code: .malformed, byteOffset: 11, text: "a splice command of \(length) bytes")
        }
        var reader = BitReader(Array(bytes[start..<(isUnknown ? limit : start + length)]))
        switch type {
        case .insert: insert = readInsert(&reader, adjustment: adjustment)
        case .timeSignal: spliceTime = Self.readTime(&reader, adjustment: adjustment)
        case .null, .bandwidthReservation: break
        default:
            guard !isUnknown else {
                throw MediaError(code: .malformed, byteOffset: 11, text: "a splice command without a length")
            }
        }
        guard !reader.isExhausted else {
            throw MediaError(code: .malformed, byteOffset: start, text: "a splice command that ends early")
        }
        return isUnknown ? start + (reader.position + 7) / 8 : start + length
    }

    private mutating func readInsert(_ reader: inout BitReader, adjustment: Int) -> Insert {
        var insert = Insert(eventID: UInt32(truncatingIfNeeded: reader.bits(32)))
        insert.isCancelled = reader.flag()
        reader.skip(7)
        guard !insert.isCancelled else { return insert }
        insert.isOutOfNetwork = reader.flag()
        let isOfProgram = reader.flag()
        let hasDuration = reader.flag()
        insert.isImmediate = reader.flag()
        reader.skip(4)
        if isOfProgram {
            if !insert.isImmediate { spliceTime = Self.readTime(&reader, adjustment: adjustment) }
        } else {
            // Each stream may have its own time. The differences only reflect its frame boundaries.
            for _ in 0..<reader.bits(8) where !reader.isExhausted {
                reader.skip(8)
                guard !insert.isImmediate else { continue }
                let time = Self.readTime(&reader, adjustment: adjustment)
                spliceTime = spliceTime ?? time
            }
        }
        if hasDuration {
            insert.returnsAutomatically = reader.flag()
            reader.skip(6)
            insert.breakDuration = MediaTime(value: Int64(reader.wideBits(33)), timescale: 90_000)
        }
        insert.programID = reader.bits(16)
        insert.availNumber = reader.bits(8)
        insert.availCount = reader.bits(8)
        return insert
    }

    private static func readTime(_ reader: inout BitReader, adjustment: Int) -> MediaTime? {
        guard reader.flag() else {
            reader.skip(7)
            return nil
        }
        reader.skip(6)
        return MediaTime(value: Int64((reader.wideBits(33) + adjustment) & clockMask), timescale: 90_000)
    }

    // MARK: Descriptors

    /// Reads the descriptors up to the first invalid one.
    private mutating func readDescriptors(from start: Int) throws(MediaError) {
        let limit = bytes.count - 4
        guard start + 2 <= limit else {
            throw MediaError(code: .malformed, byteOffset: start, text: "splice information without descriptors")
        }
        var at = start + 2
        let end = at + (Int(bytes[start]) << 8 | Int(bytes[start + 1]))
        guard end <= limit else {
            throw MediaError(code: .malformed, byteOffset: start, text: "descriptors that end after their section")
        }
        while at + 2 <= end {
            let next = at + 2 + Int(bytes[at + 1])
            guard next <= end else { return }
            if bytes[at] == SpliceSegmentation.tag,
                let segmentation = SpliceSegmentation(descriptor: Array(bytes[at + 2..<next]))
            {
                segmentations.append(segmentation)
            }
            at = next
        }
    }
}

extension SpliceInformation {
    /// Reads a section written as text.
    ///
    /// The text has hexadecimal digits after `0x`, as in `EXT-X-DATERANGE`, or base 64, as in other tags.
    ///
    /// - Throws: The errors of ``init(parsing:)``, and `malformed` for any other text.
    public init(text: some StringProtocol) throws(MediaError) {
        let digits = Array(text.utf8)
        let isHexadecimal = digits.count >= 2 && digits[0] == 0x30 && digits[1] | 0x20 == 0x78
        guard let bytes = isHexadecimal ? Self.bytes(hexadecimal: digits[2...]) : Self.bytes(base64: digits[...]) else {
            throw MediaError(code: .malformed, text: "neither hexadecimal nor base 64")
        }
        try self.init(parsing: bytes)
    }

    /// The section as base 64, the text form of SCTE 35 outside media.
    public var base64Text: String { Base64.encoded(bytes) }

    /// An odd number of digits implies a leading zero.
    private static func bytes(hexadecimal digits: ArraySlice<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity((digits.count + 1) / 2)
        var high: UInt8? = digits.count.isMultiple(of: 2) ? nil : 0
        for digit in digits {
            guard let value = digit.hexadecimalValue else { return nil }
            if let first = high {
                bytes.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        return bytes
    }

    /// Padding may be missing. The alphabet for URLs is also accepted (RFC 4648 §5).
    private static func bytes(base64 digits: ArraySlice<UInt8>) -> [UInt8]? {
        Base64.bytes(of: digits.lazy.prefix { $0 != 0x3d }.map { $0 == 0x2d ? 0x2b : $0 == 0x5f ? 0x2f : $0 })
    }
}

extension SpliceInformation: CustomStringConvertible {
    /// A short description for people (`splice_insert out, 30.0 s`), which may change.
    public var description: String {
        guard let commandType else { return "encrypted splice information" }
        if let insert {
            if insert.isCancelled { return "splice_insert \(insert.eventID) cancelled" }
            let length = insert.breakDuration.map { ", \($0)" } ?? ""
            return "splice_insert \(insert.eventID) " + (insert.isOutOfNetwork ? "out" : "in") + length
        }
        let parts = segmentations.map { part in
            let length = part.duration.map { ", \($0)" } ?? ""
            return part.isCancelled ? "\(part.eventID) cancelled" : "\(part.type) \(part.eventID)\(length)"
        }
        return ([commandType.name] + (parts.isEmpty ? [] : [parts.joined(separator: "; ")])).joined(separator: ": ")
    }
}

extension SpliceInformation.CommandType: CustomStringConvertible {
    /// The name in the standard, or a number if it has none.
    public var description: String { name }

    fileprivate var name: String {
        switch self {
        case .null: "splice_null"
        case .schedule: "splice_schedule"
        case .insert: "splice_insert"
        case .timeSignal: "time_signal"
        case .bandwidthReservation: "bandwidth_reservation"
        case .privateCommand: "private_command"
        default: "splice command \(rawValue)"
        }
    }
}

extension BitReader {
    /// The next `count` bits (33 to 64).
    mutating func wideBits(_ count: Int) -> Int {
        let high = bits(count - 32)
        return high << 32 | bits(32)
    }
}
