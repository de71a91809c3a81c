/// Text with two bytes per unit, as in tags of media files.
package enum UTF16Text {
    /// Decodes complete units. Lone surrogates become U+FFFD, and a final odd byte is dropped.
    package static func decode(_ bytes: ArraySlice<UInt8>, isLittleEndian: Bool) -> String {
        var units: [UInt16] = []
        units.reserveCapacity(bytes.count / 2)
        var index = bytes.startIndex
        while index + 1 < bytes.endIndex {
            let first = UInt16(bytes[index])
            let second = UInt16(bytes[index + 1])
            units.append(isLittleEndian ? second << 8 | first : first << 8 | second)
            index += 2
        }
        return String(decoding: units, as: UTF16.self)
    }
}
