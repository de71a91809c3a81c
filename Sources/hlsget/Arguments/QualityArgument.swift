import HLSKitCore

extension QualityExpression {
    /// The value of `--quality`, `--audio` or `--subs`.
    init(argument: String, for subject: Subject) throws(ArgumentValueError) {
        do {
            try self.init(parsing: argument, for: subject)
        } catch {
            throw ArgumentValueError(error.description)
        }
    }
}
