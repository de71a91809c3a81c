package import ArgumentParser
package import HLSKitCore

package struct SkipOptions: ParsableArguments, Sendable {
    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            """
            Skip date ranges by CLASS or expression, e.g. 'ID~^ad- && DURATION!=0', or the breaks of ad markers by their tag, \
            EXT-X-CUE-OUT. May be repeated.
            """, valueName: "expr"),
        transform: SkipOptions.expression)
    package var skipDateranges: [DateRangeExpression] = []
    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Skip segments whose URI or URL matches, as in /ads?/. May be repeated.", valueName: "regex"),
        transform: SkipOptions.pattern)
    package var skipUri: [TextPattern] = []

    package init() {}

    static func expression(_ text: String) throws -> DateRangeExpression {
        do throws(ExpressionError) {
            return try DateRangeExpression(parsing: text)
        } catch {
            throw ArgumentValueError(error.description)
        }
    }

    static func pattern(_ text: String) throws -> TextPattern {
        do throws(ExpressionError) { return try TextPattern(text) } catch {
            throw ArgumentValueError(error.description)
        }
    }

    package var rule: SkipRule { SkipRule(dateRanges: skipDateranges, segmentURIs: skipUri) }

    /// Rejects the options in commands that load the whole stream.
    ///
    /// - Parameter instead: The command to suggest.
    package func refuse(instead: String) throws {
        guard !rule.isEmpty else { return }
        let option = skipUri.isEmpty ? "--skip-dateranges" : "--skip-uri"
        throw ValidationError("\(option) needs a stream to be played; use \(instead)")
    }
}
