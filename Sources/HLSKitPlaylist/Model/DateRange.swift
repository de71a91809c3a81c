/// A range of absolute time with attributes: `EXT-X-DATERANGE`, all tags of one ID merged.
///
/// Source: rfc8216bis §4.4.5.1.
public struct DateRange: Sendable, Hashable {
    /// A trigger other than the start date.
    ///
    /// The set is open.
    public struct Cue: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        /// ``rawValue``.
        public var description: String { rawValue }

        /// Triggers before the primary content.
        public static let pre = Cue(rawValue: "PRE")
        /// Triggers after the primary content.
        public static let post = Cue(rawValue: "POST")
        /// Triggers only once.
        public static let once = Cue(rawValue: "ONCE")
    }

    /// The identifier (`ID`).
    ///
    /// Tags with the same identifier describe the same range.
    public var id: String
    /// The class (`CLASS`), or `nil` if undeclared.
    ///
    /// Ranges of one class have the same meaning.
    public var `class`: String?
    /// The start date.
    ///
    /// It is `nil` only if no tag of this ID has one, which is an issue.
    public var startDate: PlaylistDate?
    /// The end date (`END-DATE`), or `nil` if undeclared.
    ///
    /// It is not before ``startDate``.
    public var endDate: PlaylistDate?
    /// The duration, which is not negative and takes precedence over ``endDate``.
    public var duration: Duration?
    /// The expected duration while the end is unknown (`PLANNED-DURATION`), or `nil` if undeclared.
    public var plannedDuration: Duration?
    /// The times of an action tied to the range (`CUE`).
    ///
    /// If the array is empty, the action happens at the start date.
    public var cue: [Cue]
    /// A Boolean value that indicates whether the range ends at the next range of the same class.
    ///
    /// See ``MediaPlaylist/endDate(of:)``.
    public var endsOnNext: Bool
    /// The SCTE-35 command in hexadecimal, as written.
    public var scte35Command: String?
    /// The SCTE-35 out information in hexadecimal, as written.
    public var scte35Out: String?
    /// The SCTE-35 in information in hexadecimal, as written.
    public var scte35In: String?
    /// The `X-*` attributes and others without a property, in the order of the text.
    public var otherAttributes: [PlaylistAttribute]

    /// Creates a date range.
    ///
    /// Properties with a default value are undeclared.
    public init(
        id: String, class: String? = nil, startDate: PlaylistDate?, endDate: PlaylistDate? = nil,
        duration: Duration? = nil, plannedDuration: Duration? = nil, cue: [Cue] = [], endsOnNext: Bool = false,
        otherAttributes: [PlaylistAttribute] = []
    ) {
        self.id = id
        self.class = `class`
        self.startDate = startDate
        self.endDate = endDate
        self.duration = duration
        self.plannedDuration = plannedDuration
        self.cue = cue
        self.endsOnNext = endsOnNext
        self.otherAttributes = otherAttributes
    }

    /// The attributes whose names start with `X-`.
    public var clientAttributes: [PlaylistAttribute] { otherAttributes.filter { $0.name.hasPrefix("X-") } }

    /// The value of an attribute without a property.
    public subscript(attribute name: String) -> String? { otherAttributes.first { $0.name == name }?.value }

    /// The end as declared by the range itself: the start plus the duration, or else the end date.
    package var ownEndDate: PlaylistDate? {
        if let startDate, let duration { return startDate + duration }
        return endDate
    }
}

extension DateRange {
    /// Reads the attributes of the current tag. Throws if there is no ID, without which the range cannot be
    /// distinguished from others.
    init(_ context: inout ReadingContext, _ bytes: borrowing Span<UInt8>) throws(PlaylistError) {
        self.init(id: "", startDate: nil)
        while let attribute = try context.nextAttribute(bytes) {
            switch attribute.name {
            case .id: id = try context.string(attribute, bytes)
            case .class: self.class = try context.string(attribute, bytes)
            case .startDate: startDate = try context.date(attribute, bytes)
            case .endDate: endDate = try context.date(attribute, bytes)
            case .duration: duration = try context.duration(attribute, bytes)
            case .plannedDuration: plannedDuration = try context.duration(attribute, bytes)
            case .cue: cue = Self.list(try context.string(attribute, bytes)).map { Cue(rawValue: $0) }
            case .endOnNext: endsOnNext = try context.isYes(attribute, bytes)
            case .scte35Command: scte35Command = try context.text(attribute.value, bytes)
            case .scte35Out: scte35Out = try context.text(attribute.value, bytes)
            case .scte35In: scte35In = try context.text(attribute.value, bytes)
            default:
                let limit = context.options.limits.maximumAttributeCount
                guard otherAttributes.count < limit else { throw context.limit("maximumAttributeCount", limit) }
                otherAttributes.append(try context.keep(attribute, bytes))
            }
        }
        guard !id.isEmpty else { throw context.failure(.missingAttribute, "ID is missing") }
        if cue.contains(.pre), cue.contains(.post) {
            try context.report(.attributeConflict, "CUE has both PRE and POST")
        }
        if endsOnNext, self.class == nil || duration != nil || endDate != nil {
            try context.report(.dateRange, "END-ON-NEXT needs CLASS and excludes DURATION and END-DATE")
        }
        if let startDate, let endDate, endDate < startDate {
            try context.report(.dateRange, "END-DATE is before START-DATE")
        }
    }

    /// An enumerated-string-list in quotes.
    static func list(_ text: String) -> [String] {
        text.split(separator: ",").map { item in
            String(item.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }
    }

    /// Merges the attributes of `later`, another tag with the same ID. If both have an attribute, the first value
    /// remains. Returns the names of attributes that differ, or nil if more than `limit` attributes would have no
    /// property.
    mutating func merge(_ later: DateRange, upTo limit: Int) -> [String]? {
        var conflicts: [String] = []
        func take<Value: Equatable>(_ mine: inout Value?, _ other: Value?, _ name: AttributeName) {
            if let old = mine {
                if let other, other != old { conflicts.append(name.rawValue) }
            } else {
                mine = other
            }
        }
        take(&self.class, later.class, .class)
        take(&startDate, later.startDate, .startDate)
        take(&endDate, later.endDate, .endDate)
        take(&duration, later.duration, .duration)
        take(&plannedDuration, later.plannedDuration, .plannedDuration)
        take(&scte35Command, later.scte35Command, .scte35Command)
        take(&scte35Out, later.scte35Out, .scte35Out)
        take(&scte35In, later.scte35In, .scte35In)
        if cue.isEmpty { cue = later.cue }
        if later.endsOnNext { endsOnNext = true }
        // A few names are found faster without a dictionary, but many are not.
        var places: [String: Int] = [:]
        let hasPlaces = later.otherAttributes.count > 8
        if hasPlaces {
            for (index, attribute) in otherAttributes.enumerated() where places[attribute.name] == nil {
                places[attribute.name] = index
            }
        }
        for attribute in later.otherAttributes {
            let place =
                hasPlaces ? places[attribute.name] : otherAttributes.firstIndex { $0.name == attribute.name }
            if let place {
                if otherAttributes[place].value != attribute.value { conflicts.append(attribute.name) }
            } else {
                guard otherAttributes.count < limit else { return nil }
                if hasPlaces { places[attribute.name] = otherAttributes.count }
                otherAttributes.append(attribute)
            }
        }
        return conflicts
    }

    var attributeText: String {
        var list = AttributeText()
        list.quoted(.id, id)
        list.quoted(.class, self.class)
        list.quoted(.startDate, startDate?.description)
        if !cue.isEmpty { list.quoted(.cue, cue.map(\.rawValue).joined(separator: ",")) }
        list.quoted(.endDate, endDate?.description)
        list.duration(.duration, duration)
        list.duration(.plannedDuration, plannedDuration)
        list.plain(.scte35Command, scte35Command)
        list.plain(.scte35Out, scte35Out)
        list.plain(.scte35In, scte35In)
        list.other(otherAttributes)
        list.yes(.endOnNext, endsOnNext)
        return list.text
    }
}
