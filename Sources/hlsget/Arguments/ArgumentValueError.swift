/// Why the text of an option's value cannot be used. The argument parser puts the option's name in front.
struct ArgumentValueError: Error, Equatable, CustomStringConvertible {
    var description: String

    init(_ description: String) { self.description = description }
}
