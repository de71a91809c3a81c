import HLSKitCore

/// The position of an image in a terminal, centred over the last lines.
struct PreviewLayout: Sendable, Equatable {
    /// The size of a terminal in characters and, if known, in pixels (otherwise 0).
    struct Size: Sendable, Equatable {
        var columns: Int
        var rows: Int
        var width = 0
        var height = 0
    }

    /// Lines reserved for messages and the status line.
    static let textRowCount = 3
    /// Larger images are slow without looking better.
    private static let largest = PixelSize(width: 960, height: 540)
    private static let usualCell = PixelSize(width: 9, height: 18)

    let size: Size
    let format: PreviewFormat

    var columns: Int { max(1, size.columns) }
    var rows: Int { max(1, size.rows - Self.textRowCount) }

    /// The size of a character in pixels, or the usual one if unknown.
    var cell: PixelSize {
        guard size.width >= size.columns, size.height >= size.rows, size.columns > 0, size.rows > 0 else {
            return Self.usualCell
        }
        return PixelSize(width: size.width / size.columns, height: size.height / size.rows)
    }

    var imageSize: PixelSize {
        switch format {
        case .blocks: PixelSize(width: columns, height: rows * 2)
        case .kitty, .sixel:
            PixelSize(
                width: min(columns * cell.width, Self.largest.width),
                height: min(rows * cell.height, Self.largest.height))
        }
    }

    /// The characters that an image covers. Positions count from 1.
    struct Place: Sendable, Equatable {
        var column: Int
        var row: Int
        var columns: Int
        var rows: Int
    }

    func place(of image: PixelSize) -> Place {
        let (width, height): (Int, Int)
        switch format {
        case .blocks: (width, height) = (image.width, (image.height + 1) / 2)
        case .sixel:
            width = (image.width + cell.width - 1) / max(1, cell.width)
            height = (image.height + cell.height - 1) / max(1, cell.height)
        case .kitty:
            let scale = min(
                Double(columns * cell.width) / Double(max(1, image.width)),
                Double(rows * cell.height) / Double(max(1, image.height)))
            width = Int((Double(image.width) * scale / Double(cell.width)).rounded())
            height = Int((Double(image.height) * scale / Double(cell.height)).rounded())
        }
        let (shownColumns, shownRows) = (min(max(1, width), columns), min(max(1, height), rows))
        return Place(
            column: (columns - shownColumns) / 2 + 1, row: (rows - shownRows) / 2 + 1, columns: shownColumns,
            rows: shownRows)
    }
}
