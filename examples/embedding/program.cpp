#include "program.h"

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

static std::vector<std::size_t> sizes(const Json &list) {
    std::vector<std::size_t> found;
    for (const Json &each : list.list()) {
        found.push_back(static_cast<std::size_t>(each.integer()));
    }
    return found;
}

static std::size_t size(const Json &table, const char *name) {
    return static_cast<std::size_t>(table.integer(name, 0));
}

static const Json &entry(const Json &table, const char *name, const Json &number) {
    return table.at(name).list().at(static_cast<std::size_t>(number.integer()));
}

void check(cl_int status, const std::string &call) {
    if (status != CL_SUCCESS) {
        throw std::runtime_error(call + " failed with OpenCL error " + std::to_string(status));
    }
}

std::string read_file(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        throw std::runtime_error("cannot read " + path);
    }
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<Port> Program::ports(const Json &description, const std::string &which) {
    std::vector<Port> found;
    for (const Json &port : description.at(which).list()) {
        const Json &memory = entry(description, "memories", port.at("memory"));
        found.push_back({port.at("name").string(), port.at("type").string(),
                         sizes(port.at("shape")), size(memory, "bytes")});
    }
    return found;
}

Program::Program(const Json &description, const std::string &weights, cl_context its_context,
                 cl_device_id its_device, const std::map<std::string, cl_mem> &buffers)
    : context(its_context), device(its_device) {
    if (description.at("format").string() != "clopt-program" ||
        description.at("version").integer() != 1) {
        throw std::runtime_error("this is no description in version 1");
    }
    make_memories(description, weights, buffers);
    build(description);
    for (const Json &command : description.at("commands").list()) {
        const std::string &op = command.at("op").string();
        if (op == "launch") {
            commands.push_back(launch(description, command));
        } else if (op == "copy") {
            commands.push_back(copy(description, command));
        } else {
            throw std::runtime_error("a library computes a part of this program; compile it to "
                                     "kernels alone");
        }
    }
}

// The tensors of a safetensors file: the length of its header, the header in JSON, then the data.
static std::map<std::string, std::pair<const char *, std::size_t>>
read_tensors(const std::string &file) {
    std::map<std::string, std::pair<const char *, std::size_t>> found;
    std::size_t length = 0;
    for (std::size_t i = 0; i < 8 && i < file.size(); i++) {
        length |= static_cast<std::size_t>(static_cast<unsigned char>(file[i])) << (8 * i);
    }
    if (file.size() < 8 || length > file.size() - 8) {
        throw std::runtime_error("the file of weights is damaged");
    }
    const char *data = file.data() + 8 + length;
    const Json header = Json::parse(file.substr(8, length));
    for (const auto &[name, tensor] : header.object()) {
        if (tensor.has("data_offsets")) {
            const std::vector<std::size_t> range = sizes(tensor.at("data_offsets"));
            if (range.at(0) > range.at(1) || range.at(1) > file.size() - 8 - length) {
                throw std::runtime_error("the file of weights is damaged");
            }
            found[name] = {data + range[0], range[1] - range[0]};
        }
    }
    return found;
}

void Program::make_memories(const Json &description, const std::string &weights,
                            const std::map<std::string, cl_mem> &buffers) {
    const std::string file = read_file(weights);
    const auto tensors = read_tensors(file);
    for (const Json &memory : description.at("memories").list()) {
        const std::string &kind = memory.at("kind").string();
        if (memory.has("image")) {
            throw std::runtime_error("this program has images; compile it with texture=off");
        }
        if (kind == "input" || kind == "output") {
            memories.push_back(buffers.at(memory.at("name").string()));
            continue;
        }
        std::size_t bytes = size(memory, "bytes");
        void *content = nullptr;
        if (kind == "constant") {
            const auto &[data, count] = tensors.at(memory.at("key").string());
            if (count != bytes) {
                throw std::runtime_error("a weight has not the bytes of its memory");
            }
            content = const_cast<char *>(data); // OpenCL only reads it
        }
        const bool is_filled = content != nullptr && bytes > 0;
        const cl_mem_flags flags = is_filled ? CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR
                                             : static_cast<cl_mem_flags>(CL_MEM_READ_WRITE);
        cl_int status = CL_SUCCESS;
        owned.emplace_back(clCreateBuffer(context, flags, bytes ? bytes : 1,
                                          is_filled ? content : nullptr, &status));
        check(status, "clCreateBuffer");
        memories.push_back(owned.back().get());
    }
}

void Program::build(const Json &description) {
    std::string options = "-cl-std=" + description.at("standard").string();
    if (description.has("requires")) {
        for (const Json &need : description.at("requires").list()) {
            cl_device_fp_config config = 0;
            check(clGetDeviceInfo(device, CL_DEVICE_SINGLE_FP_CONFIG, sizeof config, &config,
                                  nullptr),
                  "clGetDeviceInfo");
            // Processors divide by IEEE 754 without the option, too.
            if (need.string() == "rounding" && config & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) {
                options += " -cl-fp32-correctly-rounded-divide-sqrt";
            }
        }
    }
    cl_int status = CL_SUCCESS;
    const char *text = description.at("source").string().c_str();
    program.reset(clCreateProgramWithSource(context, 1, &text, nullptr, &status));
    check(status, "clCreateProgramWithSource");
    check(clBuildProgram(program.get(), 1, &device, options.c_str(), nullptr, nullptr),
          "clBuildProgram");
}

static std::uint64_t little_endian(const void *data, std::size_t bytes) {
    std::uint64_t found = 0;
    std::memcpy(&found, data, bytes);
    return found;
}

Program::Command Program::launch(const Json &description, const Json &command) {
    const Json &kernel = entry(description, "kernels", command.at("kernel"));
    if (kernel.has("binary")) {
        throw std::runtime_error("a kernel of this program is in a binary");
    }
    Command found;
    cl_int status = CL_SUCCESS;
    const std::string &function = kernel.at("function").string();
    found.kernel.reset(clCreateKernel(program.get(), function.c_str(), &status));
    check(status, "clCreateKernel of " + function);
    found.global_size = sizes(kernel.at("global_size"));
    found.local_size = sizes(kernel.at("local_size"));
    cl_uint position = 0;
    auto argument_number = command.at("arguments").list().begin();
    for (const Json &parameter : kernel.at("parameters").list()) {
        const std::string &kind = parameter.at("kind").string();
        if (kind == "scalar") {
            const std::int64_t value = parameter.at("value").integer();
            const std::size_t bytes = parameter.at("type").string() == "uint64" ? 8 : 4;
            const std::uint64_t bits = little_endian(&value, bytes);
            status = clSetKernelArg(found.kernel.get(), position, bytes, &bits);
        } else if (kind == "buffer") {
            const cl_mem memory = argument(entry(description, "values", *argument_number++));
            status = clSetKernelArg(found.kernel.get(), position, sizeof memory, &memory);
        } else {
            throw std::runtime_error("this program has images; compile it with texture=off");
        }
        check(status, "clSetKernelArg of " + function);
        position++;
    }
    return found;
}

Program::Command Program::copy(const Json &description, const Json &command) const {
    Command found;
    found.source = place(entry(description, "values", command.at("source")));
    found.destination = place(entry(description, "values", command.at("destination")));
    return found;
}

Program::Place Program::place(const Json &value) const {
    const auto number = static_cast<std::size_t>(value.at("memory").integer());
    return {memories.at(number), size(value, "offset"), size(value, "bytes")};
}

// The buffer for a value: the memory itself, or a part of it from the value's offset to the end.
cl_mem Program::argument(const Json &value) {
    const Place at = place(value);
    if (at.offset == 0) {
        return at.memory;
    }
    Buffer &part = parts[{at.memory, at.offset}];
    if (!part) {
        std::size_t whole = 0;
        check(clGetMemObjectInfo(at.memory, CL_MEM_SIZE, sizeof whole, &whole, nullptr),
              "clGetMemObjectInfo");
        const cl_buffer_region region = {at.offset, whole - at.offset};
        cl_int status = CL_SUCCESS;
        part.reset(clCreateSubBuffer(at.memory, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &status));
        check(status, "clCreateSubBuffer at byte " + std::to_string(at.offset));
    }
    return part.get();
}

void Program::enqueue(cl_command_queue queue) const {
    for (const Command &each : commands) {
        if (each.kernel) {
            check(clEnqueueNDRangeKernel(
                      queue, each.kernel.get(), static_cast<cl_uint>(each.global_size.size()),
                      nullptr, each.global_size.data(),
                      each.local_size.empty() ? nullptr : each.local_size.data(), 0, nullptr,
                      nullptr),
                  "clEnqueueNDRangeKernel");
        } else {
            check(clEnqueueCopyBuffer(queue, each.source.memory, each.destination.memory,
                                      each.source.offset, each.destination.offset,
                                      each.source.bytes, 0, nullptr, nullptr),
                  "clEnqueueCopyBuffer");
        }
    }
}
