import CLibAV
package import HLSKitLoading
package import HLSKitMedia

/// The geometry of a frame on a display: the visible pixels, their shape, and the rotation.
///
/// This type calculates all presentation sizes of tracks and frames.
package struct PictureGeometry {
    struct Crop {
        var left = 0
        var top = 0
        var right = 0
        var bottom = 0
    }

    /// The largest plausible ratio of width to height. A larger one is damaged.
    private static let largestRatio = 16
    private static let longestSide = 32_768

    var width: Int
    var height: Int
    var crop = Crop()
    /// The width and height of a pixel, both above 0.
    var pixelShape = (width: 1, height: 1)
    /// The clockwise rotation in quarter turns, 0 to 3.
    var quarterTurns = 0

    package init(_ track: MediaTrack) {
        (width, height) = (track.width, track.height)
        if let aperture = track.cleanAperture, let crop = Self.crop(aperture, width: width, height: height) {
            self.crop = crop
        }
        if let ratio = track.declaredPixelAspectRatio, ratio.horizontalSpacing > 0, ratio.verticalSpacing > 0 {
            pixelShape = (ratio.horizontalSpacing, ratio.verticalSpacing)
        }
        quarterTurns = Self.quarterTurns(degrees: track.rotation)
    }

    init(_ frame: VideoFrame) {
        (width, height) = (frame.width, frame.height)
        let raw = frame.storage.raw.pointee
        crop = Crop(
            left: Int(clamping: raw.crop_left), top: Int(clamping: raw.crop_top), right: Int(clamping: raw.crop_right),
            bottom: Int(clamping: raw.crop_bottom))
        if let ratio = frame.sampleAspectRatio, ratio.numerator > 0, ratio.denominator > 0 {
            pixelShape = (ratio.numerator, ratio.denominator)
        }
        quarterTurns = Self.quarterTurns(degrees: frame.rotation)
    }

    static func quarterTurns(degrees: Int) -> Int { ((degrees / 90) % 4 + 4) % 4 }

    /// Returns the pixels around an aperture, or nil if the aperture is not inside the frame.
    static func crop(_ aperture: CleanAperture, width: Int, height: Int) -> Crop? {
        guard width > 0, height > 0, (1...width).contains(aperture.width), (1...height).contains(aperture.height),
            (-width...width).contains(aperture.horizontalOffset), (-height...height).contains(aperture.verticalOffset)
        else { return nil }
        let left = (width - aperture.width) / 2 + aperture.horizontalOffset
        let top = (height - aperture.height) / 2 + aperture.verticalOffset
        let (right, bottom) = (width - left - aperture.width, height - top - aperture.height)
        guard left >= 0, top >= 0, right >= 0, bottom >= 0 else { return nil }
        return Crop(left: left, top: top, right: right, bottom: bottom)
    }

    /// The size of the visible part before rotation: the coded height, and the width in square pixels.
    package func size(in mode: ImageApertureMode = .cleanAperture) -> PixelSize {
        let isCropped = mode == .cleanAperture
        let shown = PixelSize(
            width: isCropped ? width - crop.left - crop.right : width,
            height: isCropped ? height - crop.top - crop.bottom : height)
        guard mode != .encodedPixels, pixelShape.width != pixelShape.height, shown.width > 0, shown.height > 0 else {
            return shown
        }
        let (product, overflow) = shown.width.multipliedReportingOverflow(by: pixelShape.width)
        let (sum, overflow2) = product.addingReportingOverflow(pixelShape.height / 2)
        let stretched = sum / pixelShape.height
        guard !overflow, !overflow2, stretched >= 1, stretched <= Self.longestSide,
            stretched / Self.largestRatio <= shown.height
        else { return shown }
        return PixelSize(width: stretched, height: shown.height)
    }

    package var presentationSize: PixelSize { size().turned(byQuarters: quarterTurns) }
}

extension PixelSize {
    func turned(byQuarters quarters: Int) -> PixelSize {
        quarters % 2 == 0 ? self : PixelSize(width: height, height: width)
    }
}
