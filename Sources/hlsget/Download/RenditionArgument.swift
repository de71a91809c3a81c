import HLSGetKit
import HLSKitCore

/// A value of `--audio` or `--subs` of a download: an expression or `all`.
enum RenditionArgument: Sendable, Equatable {
    case all
    case expression(QualityExpression)

    init(parsing text: String) throws {
        self = text == "all" ? .all : .expression(try QualityExpression(argument: text, for: .renditions))
    }

    /// The combined choice of several arguments, or `nil` if there are none.
    static func choice(of arguments: [RenditionArgument]) -> DownloadConfiguration.Choice? {
        if arguments.isEmpty { return nil }
        if arguments.contains(.all) { return .all }
        return .matching(
            arguments.compactMap { argument in
                if case .expression(let expression) = argument { expression } else { nil }
            })
    }
}
