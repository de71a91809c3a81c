import CLibAV

extension VideoFrame {
    /// The part of the frame to show, in its pixels: what `clap` of the container says, else all of it.
    public var cleanAperture: PixelRect {
        let frame = storage.raw.pointee
        let (left, top) = (Int(frame.crop_left), Int(frame.crop_top))
        return PixelRect(
            x: Double(left), y: Double(top), width: Double(width - left - Int(frame.crop_right)),
            height: Double(height - top - Int(frame.crop_bottom)))
    }

    /// The size at which to show ``cleanAperture``: in square pixels, the height as it is coded.
    public var presentationSize: PixelSize {
        let aperture = cleanAperture
        let (width, height) = (Int(aperture.width), Int(aperture.height))
        guard let aspect = sampleAspectRatio, aspect.numerator > 0, aspect.denominator > 0 else {
            return PixelSize(width: width, height: height)
        }
        let (product, overflow) = width.multipliedReportingOverflow(by: aspect.numerator)
        guard !overflow else { return PixelSize(width: width, height: height) }
        let (sum, overflow2) = product.addingReportingOverflow(aspect.denominator / 2)
        return PixelSize(width: overflow2 ? width : max(1, sum / aspect.denominator), height: height)
    }
}
