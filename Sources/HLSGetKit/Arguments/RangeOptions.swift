package import ArgumentParser
package import HLSKitCore

package struct RangeOptions: ParsableArguments, Sendable {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Start at a time (90, 1:30, 1m30s; -30s is before the end), a date, or a segment ('#12').",
            valueName: "time|date|#n"),
        transform: TimePosition.init(parsing:))
    package var from: TimePosition?
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Stop at this time or date, or after this segment, in live streams too.", valueName: "time|date|#n"),
        transform: TimePosition.init(parsing:))
    package var to: TimePosition?
    @Option(
        help: ArgumentHelp("Stop after this duration.", valueName: "time"), transform: NumberArgument.positiveDuration
    )
    package var duration: Duration?

    package init() {}

    package var end: EndPosition {
        to?.end ?? duration.map { .duration(MediaTime($0)) } ?? .automatic
    }

    package var isPart: Bool { from != nil || to != nil || duration != nil }

    static func check(from: TimePosition?, to: TimePosition?) throws(ArgumentValueError) {
        switch (from, to) {
        case (.fromStart(let start)?, .fromStart(let end)?) where end <= start,
            (.fromEnd(let start)?, .fromEnd(let end)?) where end >= start:
            throw ArgumentValueError("--to must be after --from")
        case (.date(let start)?, .date(let end)?) where end <= start:
            throw ArgumentValueError("--to must be after --from")
        // Segments are played completely, so equal numbers are valid.
        case (.segment(let start)?, .segment(let end)?) where end < start:
            throw ArgumentValueError("--to must not be before --from")
        default: break
        }
    }

    package mutating func validate() throws {
        if to != nil && duration != nil { throw ValidationError("--to and --duration both set the end") }
        do { try Self.check(from: from, to: to) } catch { throw ValidationError(error.description) }
    }
}
