/// Why the text of an option's value cannot be used. The argument parser puts the option's name in front.
package struct ArgumentValueError: Error, Equatable, CustomStringConvertible {
    package var description: String

    package init(_ description: String) { self.description = description }
}
