/// A variable of a playlist and its value: `EXT-X-DEFINE`.
///
/// Source: rfc8216bis §4.4.2.3.
public struct VariableDefinition: Sendable, Hashable {
    /// The source of the value.
    public enum Source: Sendable, Hashable, CaseIterable {
        /// `NAME` and `VALUE`.
        case value
        /// `IMPORT`: from the multivariant playlist.
        case imported
        /// `QUERYPARAM`: from the URL of the playlist, percent-decoded.
        case queryParameter
    }

    /// The name, as in `{$name}`.
    public var name: String
    /// The text that replaces it.
    public var value: String
    /// The source of the value.
    public var source: Source

    /// Creates a definition.
    ///
    /// By default, its value is in the playlist itself.
    public init(name: String, value: String, source: Source = .value) {
        self.name = name
        self.value = value
        self.source = source
    }
}

extension VariableDefinition {
    init(_ context: inout ReadingContext, _ bytes: borrowing Span<UInt8>) throws(PlaylistError) {
        var value: String?
        var found: (name: String, source: Source)?
        while let attribute = try context.nextAttribute(bytes) {
            switch attribute.name {
            case .name:
                if found == nil { found = (try context.string(attribute, bytes), .value) }
            case .value: value = try context.string(attribute, bytes)
            case .import:
                if found == nil { found = (try context.string(attribute, bytes), .imported) }
            case .queryParam:
                if found == nil { found = (try context.string(attribute, bytes), .queryParameter) }
            default: break
            }
        }
        guard let (name, source) = found, !name.isEmpty,
            name.utf8.allSatisfy({ ReadingContext.isVariableName($0) })
        else {
            throw context.failure(.definition, "NAME, IMPORT or QUERYPARAM is missing or not a variable name")
        }
        switch source {
        case .value:
            guard let value else { throw context.failure(.definition, "VALUE of \"\(name)\" is missing") }
            self.init(name: name, value: value)
        case .imported:
            guard let value = context.options.importedVariables?[name] else {
                throw context.failure(.definition, "\"\(name)\" is not defined in the multivariant playlist")
            }
            self.init(name: name, value: value, source: .imported)
        case .queryParameter:
            guard let value = Self.queryParameter(name, in: context.url), !value.isEmpty else {
                throw context.failure(.definition, "the URL of the playlist has no query parameter \"\(name)\"")
            }
            guard !value.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F || $0 == 0x22 }) else {
                throw context.failure(
                    .definition, "the query parameter \"\(name)\" contains control characters or quotes")
            }
            self.init(name: name, value: value, source: .queryParameter)
        }
    }

    /// The percent-decoded value of a parameter in the query of `url`.
    private static func queryParameter(_ name: String, in url: String) -> String? {
        guard let query = URIReference(url)?.query else { return nil }
        for pair in query.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if let first = parts.first, PercentCoding.decodedText(first) == name {
                return parts.count > 1 ? PercentCoding.decodedText(parts[1]) : ""
            }
        }
        return nil
    }

    var attributeText: String {
        var list = AttributeText()
        switch source {
        case .value:
            list.quoted(.name, name)
            list.quoted(.value, value)
        case .imported: list.quoted(.import, name)
        case .queryParameter: list.quoted(.queryParam, name)
        }
        return list.text
    }
}
