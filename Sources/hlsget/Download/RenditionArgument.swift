import HLSGetKit
import HLSKitCore

enum RenditionArgument: Sendable, Equatable {
    case all
    case expression(QualityExpression)

    init(parsing text: String) throws {
        self = text == "all" ? .all : .expression(try QualityExpression(argument: text, for: .renditions))
    }

    var expression: QualityExpression? {
        if case .expression(let expression) = self { expression } else { nil }
    }

    static func choice(of arguments: [RenditionArgument]) -> DownloadConfiguration.Choice? {
        if arguments.isEmpty { return nil }
        if arguments.contains(.all) { return .all }
        return .matching(arguments.compactMap(\.expression))
    }
}
