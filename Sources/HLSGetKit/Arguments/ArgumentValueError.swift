/// Why an option's value is invalid. The argument parser adds the option's name in front.
package struct ArgumentValueError: Error, Equatable, CustomStringConvertible {
    package var description: String

    package init(_ description: String) { self.description = description }
}
